"""Maps as coloured blocks."""

import io

import numpy as np
from rich.console import Console

from headatlas.views.colours import UNMEASURED, VIRIDIS
from headatlas.views.terminal import print_maps
from headatlas.views.terminal.maps import heatmap
from tests.atlases import Known, write_atlas


def shown(atlas, method, colour="truecolor"):
    console = Console(file=io.StringIO(), width=120, force_terminal=colour is not None, color_system=colour)
    print_maps(console, atlas, atlas.tasks, method)
    return console.file.getvalue()


def test_colours_run_from_zero_to_the_top_of_the_scale_and_grey_is_unknown():
    grid = np.array([[0.0, 1.0], [5.0, np.nan], [0.5, 0.0]])
    _, first, second, _ = heatmap("a", grid, 1.0).renderables
    styles = [str(span.style) for span in first.spans]
    assert styles == [f"{VIRIDIS[0]} on {VIRIDIS[-1]}", f"{VIRIDIS[-1]} on {UNMEASURED}"]
    assert str(second.spans[1].style) == f"{VIRIDIS[0]} on default"  # an odd number of layers


def test_the_legend_names_measure_unit_and_method(tmp_path):
    values = np.array([[0.1, -0.2], [0.3, 0.0]])
    atlas = write_atlas(
        tmp_path / "atlas", [Known(values), Known(np.abs(values), method="gate", measure="facilitation")]
    )
    assert "size of needed (nats) by attribute" in shown(atlas, "attribute")
    assert "1.0000   facilitation by gate" in shown(atlas, "gate")
    assert shown(atlas, "attribute").count("▀▀") == 2
    assert shown(atlas, "attribute", None) == ""  # without colour, blocks say nothing
