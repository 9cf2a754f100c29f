"""Both maps side by side: panels, marks and points are those of the comparison."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from headatlas.errors import HeadAtlasError
from headatlas.patterns.compare import compare
from headatlas.views.colours import VERMILION
from headatlas.views.figures import FIGURES, draw, write_comparison_figure
from tests.atlases import Known, write_atlas
from tests.patterns.compare.pairs import SHAPE, examples, known
from tests.patterns.compare.test_depth import peaked


def two(tmp_path, tasks=("A", "$x_1$")):
    rng = np.random.default_rng(0)
    effect = 3 * rng.standard_normal(SHAPE)
    return [write_atlas(tmp_path / name, [known(examples(effect + more, rng), task=task) for task in tasks])
            for name, more in (("one", 0), ("two", 40 * np.eye(*SHAPE)))]  # fmt: skip


def test_every_task_has_two_maps_and_a_scatter(tmp_path):
    outcome = compare(*two(tmp_path))
    figure = FIGURES["compare"].function()(outcome)
    axes = [axes for part in figure.subfigs for axes in part.get_axes()]
    assert len(axes) == 6 and [part.get_suptitle() for part in figure.subfigs] == ["A", "$x_1$"]
    for i, side in enumerate((outcome.first, outcome.second)):
        grid = np.asarray(axes[i].images[0].get_array())
        np.testing.assert_allclose(grid, np.abs(side.atlas.grid("A")))
        assert len(axes[i].patches) == len(outcome.tasks[0].shared)
    assert axes[0].images[0].get_clim() == axes[1].images[0].get_clim()
    points = {to_hex(c.get_facecolor()[0]): len(c.get_offsets()) for c in axes[2].collections if len(c.get_facecolor())}
    assert points[VERMILION] == len(outcome.tasks[0].differing) == 8


def test_heads_that_differ_have_their_interval_and_the_largest_a_name(tmp_path):
    outcome = compare(*two(tmp_path, tasks=("A",)))
    (part,) = FIGURES["compare"].function()(outcome).subfigs
    axes, differing = part.get_axes()[2], outcome.tasks[0].differing
    (bars,) = [lines.get_segments() for lines in axes.collections if hasattr(lines, "get_segments")]
    expected = np.sort(differing["first"].to_numpy()[:, None] - differing[["low", "high"]].to_numpy(), axis=1)
    np.testing.assert_allclose(np.sort([bar[:, 1] for bar in bars], axis=1), expected)
    largest = differing.loc[differing["difference"].abs().idxmax()]
    names = [text.get_text() for text in axes.texts]
    assert len(names) == 3 and names[0] == f"L{int(largest['layer'])}H{int(largest['head'])}"
    assert axes.get_xlim() == axes.get_ylim()


def test_other_units_have_their_own_scales_and_no_line_of_equal_values(tmp_path):
    rng = np.random.default_rng(0)
    maps = [known(examples(3 * rng.standard_normal(SHAPE), rng)), Known(rng.random(SHAPE), method="gate")]
    outcome = compare(write_atlas(tmp_path / "a", maps), method="ablate", method_b="gate")
    (part,) = FIGURES["compare"].function()(outcome).subfigs
    first, second, scatter = part.get_axes()
    assert first.images[0].get_clim() != second.images[0].get_clim()
    assert len(scatter.lines) == 2  # through zero only


def test_profiles_over_depth(tmp_path):
    rng = np.random.default_rng(0)
    atlases = [write_atlas(tmp_path / n, [peaked(layers, 6, 0.3, rng)], name=n) for n, layers in (("a", 24), ("b", 12))]
    outcome = compare(*atlases)
    (axes,) = FIGURES["compare"].function()(outcome).get_axes()
    for line, profile in zip(axes.lines[::2], outcome.tasks[0].profiles, strict=True):
        np.testing.assert_allclose(line.get_ydata(), 100 * profile)


def test_it_is_written_in_every_form(tmp_path):
    paths = [tmp_path / f"figure.{kind}" for kind in ("png", "svg", "pdf")]
    write_comparison_figure(compare(*two(tmp_path, ("A",))), paths)
    assert all(path.stat().st_size > 1000 for path in paths)


def test_one_atlas_cannot_be_drawn_as_two(tmp_path):
    with pytest.raises(HeadAtlasError, match="shows two maps. Draw it with: headatlas compare .*one OTHER"):
        draw(two(tmp_path)[0], "compare")
