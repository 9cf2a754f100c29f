"""The graph of each function: which heads are on it, and which pairs are drawn."""

import numpy as np
import pytest
from matplotlib.patches import FancyArrowPatch

from headatlas.atlas.portraits import Graphs, read_graphs, write_graphs
from headatlas.errors import HeadAtlasError
from headatlas.views.figures import draw, write_figures
from tests.atlases import rich_atlas
from tests.atlases.portraits import write_portraits


@pytest.fixture
def atlas(tmp_path):
    return rich_atlas(tmp_path / "atlas", ["a", "b"], (8, 4), methods=["attribute"], tested=[])


def arcs(axes):
    return [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]


def test_every_head_has_its_name_and_effect_and_only_sure_pairs_are_drawn(atlas):
    write_portraits(atlas, [])
    figure = draw(atlas, "graph")
    for axes, graph in zip(figure.axes, read_graphs(atlas.path), strict=True):
        names = [text.get_text().split("\n") for text in axes.texts]
        assert [name for name, _ in names] == [f"L{node.layer}H{node.head}" for node in graph.nodes]
        assert names[1][1] == "+1.00"
        assert len(arcs(axes)) == 3  # one backup above, two suppliers below
        heights = sorted(np.sign(arc.get_path().vertices[0, 1]) for arc in arcs(axes))
        assert heights == [-1, -1, 1]


def test_without_sure_pairs_it_says_so(atlas):
    write_portraits(atlas, [], ["a"])
    (graph,) = read_graphs(atlas.path)
    none = [edge.model_copy(update={"q": None}) for edge in graph.edges]
    write_graphs(atlas.path, Graphs(graphs=[graph.model_copy(update={"edges": none})]))
    (axes,) = draw(atlas, "graph").axes
    assert arcs(axes) == []
    assert axes.texts[-1].get_text() == "no pair interacts so that it can be told from none"


def test_it_is_written_where_there_are_graphs_and_otherwise_says_how_to_get_them(atlas):
    with pytest.raises(
        HeadAtlasError, match=f"has no graphs of its functions. Make them with: headatlas head {atlas.path}$"
    ):
        draw(atlas, "graph")
    assert "graph.png" not in {path.name for path in write_figures(atlas)}
    write_portraits(atlas, [], ["a"])
    assert {"graph.png", "graph.svg"} <= {path.name for path in write_figures(atlas)}
