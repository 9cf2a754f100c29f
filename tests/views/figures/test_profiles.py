"""Layer profiles: the numbers that are drawn are those of the atlas."""

import numpy as np
import pytest

from headatlas.views.figures import draw
from tests.atlases import Known, write_atlas


def test_the_mean_of_every_layer_and_the_centre_of_mass_are_drawn(tmp_path):
    values = np.array([[1.0, -3.0], [0.0, 0.0], [np.nan, np.nan], [4.0, np.nan]])
    figure = draw(write_atlas(tmp_path / "atlas", [Known(values)]), "profiles")
    assert figure.get_supylabel() == "Size of needed (nats) by attribute"
    (axes,) = figure.axes
    line, centre = axes.get_lines()
    np.testing.assert_allclose(line.get_xydata(), [(0, 2), (1, 0), (3, 4)])  # no head of layer 2 was measured
    assert centre.get_xdata()[0] == pytest.approx(3 * 4 / 8)
    assert "layer 1.5" in axes.texts[0].get_text()


def test_panels_share_their_scale_and_heads_above_it_stay_visible(tmp_path):
    small, spike = np.full((4, 6), 0.1), np.full((4, 6), 0.1)
    spike[2, 3] = 50.0
    figure = draw(write_atlas(tmp_path / "atlas", [Known(small, task="a"), Known(spike, task="b")]), "profiles")
    first, second = figure.axes
    assert first.get_ylim() == second.get_ylim()
    heads = second.collections[0].get_offsets()[:, 1]
    assert heads.max() == pytest.approx(second.get_ylim()[1]) and len(heads) == 24


def test_a_map_of_zeros_has_no_centre(tmp_path):
    (axes,) = draw(write_atlas(tmp_path / "atlas", [Known(np.zeros((3, 4)))]), "profiles").axes
    assert len(axes.get_lines()) == 1 and "no head" in axes.texts[0].get_text()
