"""Models of different shapes, by relative depth."""

import numpy as np
import pytest

from headatlas.errors import UsageError
from headatlas.patterns.compare import compare
from headatlas.patterns.compare.depth import depth_shares, relative_centre
from headatlas.patterns.maps import read_maps
from tests.atlases import Known, from_examples, write_atlas


def peaked(layers, heads, depth, rng, groups=24):
    """Large effects around one relative depth, measured on examples."""
    middles = (np.arange(layers) + 0.5) / layers
    effect = np.repeat(5 * np.exp(-(((middles - depth) / 0.1) ** 2))[:, None], heads, 1)
    return from_examples(effect.ravel() + rng.normal(size=(groups, effect.size)), effect.shape, method="ablate")


def test_a_layer_is_divided_between_the_parts_that_it_lies_in(tmp_path):
    value = np.array([[1.0], [2.0], [3.0]])
    (task_map,) = read_maps(write_atlas(tmp_path / "a", [Known(value)]), "attribute", "needed")
    np.testing.assert_allclose(depth_shares(task_map, task_map.size, 2), [2 / 6, 4 / 6])
    np.testing.assert_allclose(depth_shares(task_map, task_map.size, 3), [1 / 6, 2 / 6, 3 / 6])
    assert relative_centre(task_map, task_map.size) == pytest.approx((1 / 6 + 2 * 3 / 6 + 3 * 5 / 6) / 6)


def test_models_of_different_shapes_are_compared_by_depth(tmp_path):
    rng = np.random.default_rng(0)
    first = write_atlas(tmp_path / "a", [peaked(24, 6, 0.3, rng)], name="deep")
    same = write_atlas(tmp_path / "b", [peaked(12, 8, 0.3, rng)], name="shallow")
    late = write_atlas(tmp_path / "c", [peaked(12, 8, 0.8, rng)], name="late")
    outcome = compare(first, same)
    (task,) = outcome.tasks
    assert outcome.by == "depth" and outcome.labels == ("deep", "shallow") and task.units == 12
    np.testing.assert_allclose(task.profiles.sum(1), 1)
    assert task.correlation.value > 0.3 and task.heads is None and not task.tested
    assert abs(task.centres[2].value) < 0.05 and task.centres[2].low < 0 < task.centres[2].high
    difference = compare(first, late).tasks[0].centres[2]
    assert difference.high < 0 and difference.value == pytest.approx(-0.35, abs=0.15)
    assert any("cannot be matched" in remark for remark in outcome.remarks)


def test_heads_of_different_shapes_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    atlases = [write_atlas(tmp_path / str(n), [peaked(n, 6, 0.3, rng)]) for n in (8, 12)]
    with pytest.raises(UsageError, match="8 layers of 6 heads and 12 layers of 6 heads, so their heads cannot be"):
        compare(*atlases, by="heads")
