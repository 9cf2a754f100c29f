"""The atlas picture: what every head is specifically for."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from headatlas.errors import HeadAtlasError
from headatlas.views.figures import draw, write_figures
from headatlas.views.figures.atlas import COLUMN, NOTHING, PAGE, shade
from headatlas.views.functions import HUES
from tests.atlases import Known, rich_atlas, write_atlas


def specific_atlas(folder):
    """L1H2 is for A, L3H0 for both, and a large effect of L0H0 is not sure."""
    maps = []
    for task, heads in (("A", {(1, 2): 0.5, (3, 0): 0.1, (0, 0): 0.4}), ("B", {(3, 0): 0.3})):
        value, p = np.zeros((4, 3)), np.ones((4, 3))
        for head, share in heads.items():
            value[head], p[head] = share, 0.2 if head == (0, 0) else 1e-6
        for measure in ("needed", "share", "specific"):
            maps.append(Known(value, np.full((4, 3), 0.1), p, method="ablate", measure=measure, task=task))
    return write_atlas(folder, maps)


def cells(figure):
    """(x, y, width): colour of every rectangle but the ground."""
    patches = figure.axes[0].patches[1:]
    return {(patch.get_x(), patch.get_y(), patch.get_width()): patch.get_facecolor()[:3] for patch in patches}


def test_hue_is_the_function_and_strength_the_share(tmp_path):
    figure = draw(specific_atlas(tmp_path / "atlas"), "atlas")
    drawn = cells(figure)
    assert set(drawn) == {(1.5, 0.5, 1.0), (-0.5, 2.5, 0.5), (0.0, 2.5, 0.5)}, "a head with two functions is split"
    assert drawn[1.5, 0.5, 1.0] == pytest.approx(to_rgb(HUES[0][0])), "the largest share has the full colour"
    first, second = drawn[-0.5, 2.5, 0.5], drawn[0.0, 2.5, 0.5]
    assert first != second
    assert to_rgb(figure.axes[0].patches[0].get_facecolor()) == to_rgb(NOTHING)
    assert texts(figure.axes[0]) == ["A", "B", "A"], "a letter in every part, the larger share first"
    title, *key, note = texts(figure.axes[1])
    assert title == "Heads specifically for"
    assert key == ["A", "A: 2", "B", "B: 1", "", "nothing shown: 10"]
    words = "Colour: share (of positive effects) by ablate. q < 0.05 over all heads and tasks."
    assert note.replace("\n", " ") == words


def texts(axes):
    """Letters of heads, or letters and words of the key."""
    inside = axes.texts if axes.get_xlabel() else axes.artists[0].findobj(Text)
    return [text.get_text() for text in inside]


def test_heads_that_were_not_measured_are_not_called_empty(tmp_path):
    value, p = np.where(np.arange(12).reshape(4, 3) < 5, 0.1, np.nan), np.ones((4, 3))
    maps = [Known(value, p=p, method="ablate", measure=measure) for measure in ("needed", "share", "specific")]
    figure = draw(write_atlas(tmp_path / "atlas", maps), "atlas")
    assert texts(figure.axes[1])[-5:-1] == ["", "nothing shown: 5", "", "not measured: 7"]
    assert len(cells(figure)) == 7 and set(cells(figure).values()) == {(1.0, 1.0, 1.0)}


@pytest.mark.parametrize(("shape", "width"), [((30, 9), COLUMN), ((12, 12), COLUMN), ((32, 32), PAGE)])
def test_it_is_as_wide_as_a_column_or_a_page_and_fits_on_one(tmp_path, shape, width):
    figure = draw(rich_atlas(tmp_path / "atlas", shape=shape, methods=["ablate"], tested=()), "atlas")
    inches, high = figure.get_size_inches()
    assert inches == width and high < 9.5


def test_an_atlas_that_does_not_say_how_specific_heads_are_is_refused(tmp_path):
    with pytest.raises(HeadAtlasError, match="nothing for the figure 'atlas'"):
        draw(write_atlas(tmp_path / "atlas", [Known(np.ones((4, 3)))]), "atlas")


def test_one_task_has_no_others_to_compare_with(tmp_path):
    maps = [Known(np.ones((4, 3)), method="ablate", measure=measure) for measure in ("needed", "share")]
    atlas = write_atlas(tmp_path / "atlas", maps)
    with pytest.raises(
        HeadAtlasError, match="needs the measures share and specific, .* has maps of 1 task. Map several"
    ):
        draw(atlas, "atlas")
    assert "atlas.png" not in {path.name for path in write_figures(atlas)}


def test_shades_run_from_white():
    assert shade("#0072b2", 0) == (1, 1, 1)
    assert shade("#0072b2", 1) == pytest.approx(to_rgb("#0072b2"))
