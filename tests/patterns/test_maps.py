import numpy as np
import pytest

from headatlas.patterns.maps import on_common_heads, read_maps, read_seed_maps
from tests.atlases import Known, measured, write_atlas

SHAPE = (5, 4)


def read(tmp_path, maps, kv_heads=None):
    return read_maps(write_atlas(tmp_path / "atlas", maps, kv_heads=kv_heads), "attribute", "needed")


def test_a_map_knows_its_model_and_the_groups_behind_its_errors(tmp_path, rng):
    (task_map,) = read(tmp_path, [measured(np.zeros(SHAPE), 1.0, rng, groups=13)], kv_heads=2)
    assert (task_map.shape, task_map.kv_heads, task_map.df) == (SHAPE, 2, 12)
    assert task_map.heads_at(np.array([5, 0])) == [(1, 1), (0, 0)]


def test_heads_are_ranked_by_value_and_ordered_by_size_apart(tmp_path):
    (task_map,) = read(tmp_path, [Known(np.array([[3.0, -5.0], [4.0, 0.5]]))])
    assert task_map.heads_at(task_map.ranking) == [(1, 0), (0, 0), (1, 1), (0, 1)]
    assert task_map.heads_at(task_map.by_size) == [(0, 1), (1, 0), (0, 0), (1, 1)]


def test_without_p_values_the_largest_5_percent_stand_in(tmp_path):
    value = np.arange(40.0).reshape(10, 4)
    value[0, 0] = -100.0
    (task_map,) = read(tmp_path, [Known(value)])
    assert task_map.heads_at(np.flatnonzero(task_map.above_null)) == [(0, 0), (9, 3)]
    assert np.isnan(task_map.global_p)


def test_seeds_are_averaged_and_their_errors_are_not_reduced(tmp_path):
    values, error = [np.full(SHAPE, 1.0), np.full(SHAPE, 3.0)], np.full(SHAPE, 0.5)
    maps = [Known(value, error, np.full(SHAPE, 0.1), groups=10, seed=seed) for seed, value in enumerate(values)]
    (task_map,) = read(tmp_path, maps)
    assert (task_map.value == 2).all() and (task_map.stderr == 0.5).all()
    np.testing.assert_allclose(task_map.p, 0.2)  # twice the mean
    atlas = write_atlas(tmp_path / "atlas", maps)
    by_seed = read_seed_maps(atlas, "attribute", "needed", "Task")
    assert {seed: seed_map.value[0] for seed, seed_map in by_seed.items()} == {0: 1.0, 1: 3.0}


def test_p_values_of_several_seeds_stay_those_of_their_null(tmp_path):
    """value / stderr knows nothing of the null of a method: as a t it would be 5e-8 here."""
    value, error = np.full(SHAPE, 1.0), np.full(SHAPE, 0.1)
    (task_map,) = read(tmp_path, [Known(value, error, np.full(SHAPE, 0.5), groups=12, seed=seed) for seed in (0, 1)])
    assert (task_map.p == 1).all()
    small = [np.full(SHAPE, 0.001), np.full(SHAPE, 0.003)]
    (task_map,) = read(tmp_path, [Known(value, error, p, groups=12, seed=seed) for seed, p in enumerate(small)])
    np.testing.assert_allclose(task_map.p, 0.004)
    (task_map,) = read(tmp_path, [Known(value, error, groups=12, seed=seed) for seed in (0, 1)])
    assert not task_map.has_p, "a method without p gets none from its errors"


@pytest.mark.parametrize("missing", [[(0, 1)], [(0, 0), (4, 3)]])
def test_maps_on_common_heads(tmp_path, rng, missing):
    first, second = Known(rng.normal(size=SHAPE), task="A"), Known(rng.normal(size=SHAPE), task="B")
    for head in missing:
        second.value[head] = np.nan
    second.value[2, 2], first.value[3, 3] = np.nan, np.nan
    common = on_common_heads(read(tmp_path, [first, second]))
    expected = [head for head in np.ndindex(SHAPE) if head not in {*missing, (2, 2), (3, 3)}]
    for known, task_map in zip((first, second), common, strict=True):
        assert task_map.heads_at(np.arange(len(task_map.value))) == expected
        assert task_map.value.tolist() == [known.value[head] for head in expected]
