"""The atlas picture: what every head is specifically for."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from headatlas.errors import HeadAtlasError
from headatlas.views.figures import draw
from headatlas.views.figures.atlas import HUES, NOTHING, initials, shade
from tests.atlases import Known, write_atlas


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
    """(x, y, width): colour of every rectangle but the background."""
    patches = figure.axes[0].patches[1:]
    return {(patch.get_x(), patch.get_y(), patch.get_width()): patch.get_facecolor()[:3] for patch in patches}


def test_hue_is_the_function_and_strength_the_share(tmp_path):
    figure = draw(specific_atlas(tmp_path / "atlas"), "atlas")
    drawn = cells(figure)
    assert set(drawn) == {(1.5, 0.5, 1.0), (-0.5, 2.5, 0.5), (0.0, 2.5, 0.5)}, "a head with two functions is split"
    assert drawn[1.5, 0.5, 1.0] == pytest.approx(to_rgb(HUES[0])), "the largest share has the full colour"
    first, second = drawn[-0.5, 2.5, 0.5], drawn[0.0, 2.5, 0.5]
    assert first != second
    assert to_rgb(figure.axes[0].patches[0].get_facecolor()) == to_rgb(NOTHING)
    labels = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    assert labels == ["A  A: 2", "B  B: 1", "nothing shown: 10"]


def test_an_atlas_that_does_not_say_how_specific_heads_are_is_refused(tmp_path):
    with pytest.raises(HeadAtlasError, match="nothing for the figure 'atlas'"):
        draw(write_atlas(tmp_path / "atlas", [Known(np.ones((4, 3)))]), "atlas")


def test_letters_differ_and_shades_run_from_white():
    letters = initials(["Retrieval", "Recall", "Retrieval of words", "Math", "R"])
    assert len(set(letters.values())) == 5
    assert letters["Retrieval"] == "R" and letters["Math"] == "M"
    assert shade("#0072b2", 0) == (1, 1, 1)
    assert shade("#0072b2", 1) == pytest.approx(to_rgb("#0072b2"))
