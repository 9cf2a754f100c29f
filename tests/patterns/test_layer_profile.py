import numpy as np
import pytest

from headatlas.patterns.layer_profile import centre_of_mass, layer_shares, spread_of_mass
from headatlas.patterns.maps import read_maps
from tests.atlases import Known, write_atlas


def test_shares_of_the_layers_leave_out_what_was_not_measured(tmp_path):
    value = np.array([[1.0, -2.0], [np.nan, np.nan], [np.nan, 3.0]])
    (task_map,) = read_maps(write_atlas(tmp_path / "atlas", [Known(value)]), "attribute", "needed")
    np.testing.assert_allclose(layer_shares(task_map, task_map.size), [0.5, 0, 0.5])
    np.testing.assert_allclose(layer_shares(task_map, np.zeros((4, 3))), np.zeros((4, 3)))


def test_centre_and_spread_by_hand():
    assert centre_of_mass(np.array([0.5, 0, 0.5])) == 1
    assert spread_of_mass(np.array([0.5, 0, 0.5])) == 1
    assert centre_of_mass(np.array([0.25, 0.75])) == 0.75
    assert spread_of_mass(np.array([0.25, 0.75])) == pytest.approx(np.sqrt(0.1875))
