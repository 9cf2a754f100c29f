"""How many first heads would be found again, gathered from diagnostics, seeds and errors."""

import numpy as np
import pytest

from headatlas.atlas.records import Diagnostic
from headatlas.patterns.agreement import stability
from headatlas.patterns.found_again import found_again
from tests.atlases import Known, measured, write_atlas

NUMBERS = {"first heads": 10, "first heads shared by halves": 7.4, "wordings": 6,
           "first heads without one wording": 9.25, "first heads without the worst wording": 8}  # fmt: skip


def test_halves_and_wordings_as_the_method_reports_them(tmp_path):
    entries = [Diagnostic("ablate", metric, value, "Task") for metric, value in NUMBERS.items()]
    known = measured(np.arange(80.0).reshape(10, 8), 1.0, np.random.default_rng(0), method="ablate")
    (found,) = found_again(write_atlas(tmp_path / "a", [known], diagnostics=entries))
    assert (found.k, found.halves, found.wordings) == (10, 7.4, 6)
    assert (found.without_one, found.without_worst) == (9.25, 8)
    assert found.repeat is None and found.between_seeds is None and found.by_chance == pytest.approx(100 / 80)


def test_seeds_are_compared_pair_by_pair(tmp_path):
    """Of 12 heads three are first: two seeds share two of them, the third shares none with either."""
    firsts = [(0, 1, 2), (0, 1, 3), (9, 10, 11)]
    maps = []
    for seed, first in enumerate(firsts):
        value = np.linspace(0.01, 0.02, 12)
        value[list(first)] = 1.0
        maps.append(Known(value.reshape(3, 4), method="gate", seed=seed))
    (found,) = found_again(write_atlas(tmp_path / "a", maps))
    assert (found.k, found.seeds, found.between_seeds) == (3, 3, pytest.approx(2 / 3))
    assert found.halves is None and found.repeat is None


def test_standard_errors_stand_in_where_halves_are_not_known(tmp_path):
    atlas = write_atlas(tmp_path / "a", [measured(np.arange(80.0).reshape(10, 8), 1.0, np.random.default_rng(0))])
    (found,) = found_again(atlas)
    assert found.repeat == pytest.approx(stability(atlas)["repeat_overlap"][0], abs=0.5)


def test_a_bare_map_says_nothing_and_one_map_can_be_asked_for(tmp_path):
    rng = np.random.default_rng(0)
    maps = [Known(rng.random((10, 8)), method="gate", task="A"), measured(rng.random((10, 8)), 1.0, rng, task="A"),
            measured(rng.random((10, 8)), 1.0, rng, task="B")]  # fmt: skip
    atlas = write_atlas(tmp_path / "a", maps)
    assert [(found.method, found.task) for found in found_again(atlas)] == [("attribute", "A"), ("attribute", "B")]
    assert [found.task for found in found_again(atlas, "attribute", "B")] == ["B"]
