"""How many of the first heads are found again."""

import numpy as np
import pytest

from headatlas.atlas.records import (
    FIRST_HEADS,
    SHARED_BY_HALVES,
    WITHOUT_A_WORDING,
    WITHOUT_WORST_WORDING,
    WORDINGS,
)
from headatlas.methods.ablate import Ablate
from headatlas.methods.attribute import Attribute
from headatlas.methods.stability import example_noise, stability
from headatlas.suites.example import Example
from tests.run.contexts import run_context
from tests.run.test_quantity import twin_suite


def examples_of(wordings, groups=None):
    return [
        Example(id=str(i), task="T", prompt="p", answer=" a", group=str(i if groups is None else groups[i]), template=t)
        for i, t in enumerate(wordings)
    ]


def numbers(values, examples):
    return {entry.metric: entry.value for entry in stability("ablate", "T", values, examples)}


def test_the_same_effects_on_every_example_are_found_again():
    values = np.tile(np.arange(80.0), (12, 1))
    assert numbers(values, examples_of([None] * 12)) == {FIRST_HEADS: 10, SHARED_BY_HALVES: 10}


def test_pure_noise_is_found_again_as_often_as_chance_gives():
    values = np.random.default_rng(0).normal(size=(40, 80))
    assert numbers(values, examples_of([None] * 40))[SHARED_BY_HALVES] == pytest.approx(10 * 10 / 80, abs=0.8)


def test_heads_that_one_wording_brings_are_lost_without_it():
    """Four of the ten first heads come from wording c alone."""
    values = np.tile(np.r_[np.full(6, 9.0), np.zeros(4), np.linspace(1, 0.1, 70)], (12, 1))
    wordings = ["a", "b", "c"] * 4
    values[np.array(wordings) == "c", 6:10] = 30.0
    found = numbers(values, examples_of(wordings))
    assert (found[WORDINGS], found[WITHOUT_WORST_WORDING]) == (3, 6)
    assert found[WITHOUT_A_WORDING] == pytest.approx((10 + 10 + 6) / 3)


def test_one_wording_or_one_group_says_nothing():
    values = np.random.default_rng(0).normal(size=(6, 40))
    assert set(numbers(values, examples_of(["a"] * 6, [0] * 6))) == {FIRST_HEADS}


def test_halves_cut_no_group():
    """Two groups that disagree: halves share nothing, although examples within a group are all alike."""
    values = np.zeros((20, 80))
    values[:10, :10], values[10:, 10:20] = 1.0, 1.0
    assert numbers(values, examples_of([None] * 20, [0] * 10 + [1] * 10))[SHARED_BY_HALVES] == 0


def test_small_models_have_fewer_first_heads():
    assert numbers(np.ones((4, 12)), examples_of([None] * 4))[FIRST_HEADS] == 3


def test_the_noise_bears_the_name_of_its_examples():
    values = np.random.default_rng(0).normal(size=(6, 4))
    first, same, other = (example_noise(values, examples_of(["a"] * 6, groups)) for groups in (None, None, range(1, 7)))
    assert first.examples == same.examples != other.examples


@pytest.mark.parametrize("method", [Ablate(exact=6), Attribute()])
def test_maps_of_needed_have_noise_of_the_size_of_their_errors(tmp_path, method):
    context = run_context(tmp_path, suite=twin_suite(72))
    measured = method.measure(context)
    found = {(entry.metric, entry.task) for entry in measured.diagnostics}
    for head_map in measured.maps:
        if head_map.measure == "needed":
            sizes = np.sqrt(np.square(head_map.noise.parts).sum(0))
            assert head_map.noise.parts.shape[1] == len(head_map.heads)
            assert 0.3 < np.median(sizes / head_map.summary.stderr) < 1.7
            assert (SHARED_BY_HALVES, head_map.task) in found
