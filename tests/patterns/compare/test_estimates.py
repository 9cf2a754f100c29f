"""Intervals of correlations: they are about examples, and cover although the noise of heads goes together."""

import numpy as np
import pytest
from scipy import stats

from headatlas.noise import noise_of
from headatlas.patterns.compare.estimates import correlation_with_interval, rank_correlation, with_interval
from headatlas.patterns.compare.noise import Noise
from headatlas.stats import summarise

HEADS, GROUPS, REPEATS = 96, 16, 150


def measured(effects, name):
    groups = [str(i) for i in range(len(effects))]
    summary = summarise(effects, groups)
    return summary.mean, Noise(noise_of(effects, groups).parts, name, summary.stderr)


@pytest.mark.parametrize("same_examples", [False, True])
def test_intervals_cover_where_examples_move_all_heads_together(same_examples):
    """The truth is the mean correlation over repetitions. With independent noise of the stated errors the interval
    would be about half as wide and cover about two thirds."""
    rng = np.random.default_rng(0)
    truth = rng.standard_normal(HEADS)
    directions = rng.standard_normal((2, HEADS))
    estimates, independent = [], []
    for _ in range(REPEATS):
        common = [rng.standard_normal((GROUPS, 2)) @ directions for _ in range(2)]
        common[1] = common[0] if same_examples else common[1]
        maps = [
            measured(truth + 2 * part + rng.standard_normal((GROUPS, HEADS)), "same" if same_examples else name)
            for part, name in zip(common, "ab", strict=True)
        ]
        (a, first), (b, second) = maps
        estimates.append(correlation_with_interval(rank_correlation, (a, b), (first, second)))
        draws = [m + noise.stderr * rng.standard_normal((60, HEADS)) for m, noise in maps]
        independent.append(np.arctanh(rank_correlation(*draws)).std())
    z = np.arctanh([estimate.value for estimate in estimates])
    expected = np.tanh(z.mean())
    covered = np.mean([estimate.low <= expected <= estimate.high for estimate in estimates])
    assert covered > 0.88
    if not same_examples:
        assert np.mean(np.abs(z - z.mean()) < 1.96 * np.array(independent)) < 0.8


def test_rank_correlation_is_spearmans():
    first, second = np.random.default_rng(0).normal(size=(2, 5, 20))
    expected = [stats.spearmanr(a, b).statistic for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose(rank_correlation(first, second), expected)


def test_no_noise_no_interval():
    estimate = with_interval(lambda x, y: x.sum(-1) - y.sum(-1), (np.ones(3), np.zeros(3)), (None, None))
    assert estimate.value == 3 and np.isnan(estimate.low) and np.isnan(estimate.high)


def test_the_error_of_a_linear_statistic_is_exact():
    """Of the sum over heads: that of the mean over examples of their sums."""
    rng = np.random.default_rng(0)
    effects, other = rng.normal(size=(2, 12, 5))
    (a, first), (b, second) = measured(effects, "a"), measured(other, "b")
    estimate = with_interval(lambda x, y: x.sum(-1) - y.sum(-1), (a, b), (first, second))
    variance = sum(summarise(e.sum(1, keepdims=True), [str(i) for i in range(12)]).stderr[0] ** 2
                   for e in (effects, other))  # fmt: skip
    assert (estimate.high - estimate.value) / stats.t.ppf(0.975, 11) == pytest.approx(np.sqrt(variance))


def test_what_maps_of_the_same_examples_share_cancels_in_their_difference():
    rng = np.random.default_rng(0)
    effects = rng.normal(size=(12, 5))
    (a, first), (b, second) = measured(effects, "same"), measured(effects + 1, "same")
    estimate = with_interval(lambda x, y: x.sum(-1) - y.sum(-1), (a, b), (first, second))
    assert estimate.low == pytest.approx(-5) and estimate.high == pytest.approx(-5)


def test_few_groups_have_no_interval():
    rng = np.random.default_rng(0)
    (a, first), (b, second) = (measured(rng.normal(size=(4, 9)), name) for name in "ab")
    assert np.isnan(correlation_with_interval(rank_correlation, (a, b), (first, second)).low)
