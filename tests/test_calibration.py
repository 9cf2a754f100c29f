"""The shorter form of `python -m benchmarks calibration`: p-values, false discoveries and intervals under the null.

Shares are bounded by what so few simulations can tell apart from the bars: 0.055 for p < 0.05, 0.07 for false
discoveries.
"""

import numpy as np
import pytest
from scipy import stats

from benchmarks import null_methods
from benchmarks.calibration import EFFECTS, described, mean_coverage, ratio_coverage
from benchmarks.null_methods import (
    NOISE,
    certified,
    exact,
    maps_of_effects,
    probe_null,
    repair_null,
    sense_null,
    specific_null,
)
from benchmarks.null_tests import on_models, simulated
from headatlas.evidence.hierarchy import Hierarchy
from headatlas.evidence.mask import Mask
from headatlas.evidence.specificity import Specificity


def assert_not_too_small(p_values, slack=0.0):
    """No bound holds more p-values than it should, nor do more than 0.055 lie below 0.05; up to `slack`."""
    p = np.array(p_values)
    assert np.isfinite(p).all() and len(p) > 20
    assert (p < 0.05).mean() <= 0.055 + slack
    assert stats.kstest(p, "uniform", alternative="greater").statistic <= 0.02 + slack


@pytest.mark.parametrize("kind", NOISE)
@pytest.mark.parametrize("groups", [6, 40])
def test_intervals_cover(kind, groups):
    assert 0.93 <= mean_coverage(EFFECTS[kind], groups, 4000) <= 0.98
    assert 0.93 <= ratio_coverage(EFFECTS[kind], groups, 4000) <= 0.98


@pytest.mark.parametrize("kind", NOISE)
@pytest.mark.parametrize(("estimate", "times"), [(exact, 60), (certified, 12)])
def test_effects_of_heads(kind, estimate, times):
    p_values, _ = maps_of_effects(estimate, NOISE[kind], 12, times)
    assert_not_too_small(p_values)
    _, false_shares = maps_of_effects(estimate, NOISE[kind], 12, times, share=0.3)
    assert np.mean(false_shares) <= 0.07


def test_some_heads_are_discovered_where_there_is_something(monkeypatch):
    """The bars above could be kept by a test that never says anything."""
    monkeypatch.setattr(null_methods, "HEADS", 90)
    rng = np.random.default_rng(0)
    effects = rng.normal(size=(24, 90)) + null_methods.STRONG
    assert (exact(effects, [str(i) for i in range(24)], rng).p_value < 0.001).mean() > 0.8


@pytest.mark.parametrize("kind", NOISE)
def test_specific(kind):
    """With Welch's degrees of freedom 14 % of the maps of exponential noise had a discovery."""
    p_values, false_shares = specific_null(NOISE[kind], 40, 80)
    assert_not_too_small(p_values)
    assert np.mean(false_shares) <= 0.07


@pytest.mark.parametrize("kind", NOISE)
@pytest.mark.parametrize("bounded", [False, True])
def test_random_masks(kind, bounded):
    p_values, false_shares, covered = sense_null(NOISE[kind], 48, 4, 0.1, bounded)
    assert_not_too_small(p_values, slack=0.05)
    assert np.mean(np.array(p_values) < 0.05) <= 0.055
    assert np.mean(false_shares) <= 0.07
    assert covered >= 0.93


@pytest.mark.parametrize("carriers", [0, 4])
def test_the_linear_probe(carriers):
    for p_values, false_shares in probe_null(6, carriers).values():
        assert_not_too_small(p_values, slack=0.03)
        assert np.mean(false_shares) <= 0.2


def test_heads_that_matter_and_add_up_take_nothing_over():
    """No head of these models does more where another one is missing; before, the null was simulated only for models
    in which no head matters."""
    draws = list(repair_null(5))
    assert len(draws) == 5
    p_values = [p for of_draw, _ in draws for p in of_draw]
    assert np.mean(np.array(p_values) < 0.05) <= 0.1
    assert sum(found for _, found in draws) <= 1


@pytest.mark.parametrize("k", [16, 128])
def test_top_against_random_sets(k):
    """Drawn from heads that were not chosen, p < 0.05 in 8 to 46 % of these maps."""
    null = simulated(Mask(), "less", 20, 36, k, 400)
    assert_not_too_small(null.p_values, slack=0.02)
    assert np.mean(null.excluded) <= 0.09


def test_heads_of_a_task_against_those_of_others():
    assert np.mean(simulated(Specificity(), None, 7, 144, 16, 400).excluded) <= 0.09


@pytest.mark.parametrize(("test", "models"), [(Mask(), 4), (Hierarchy(), 8)])
def test_tests_on_random_models(test, models):
    null = on_models(test, "random", models)
    assert_not_too_small(null.p_values, slack=0.15)


def test_a_description_names_the_share_and_the_distance():
    assert described([0.01, 0.5, 0.9, 0.99]) == "      4 p, p < 0.05 0.250, KS 0.240"
    assert described([]) == "no p"
