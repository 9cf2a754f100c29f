import numpy as np
import pytest
from scipy import stats as scipy_stats

from headatlas.stats import (
    clustered_moments,
    effective_groups,
    elbow,
    half_width,
    overlap,
    proportion_interval,
    q_values,
    summarise,
    too_few_groups,
)


def test_symmetric_effects_give_the_ordinary_interval_and_a_p_with_half_the_degrees_of_freedom():
    half = np.random.default_rng(0).normal(0, 1, size=(10, 4))
    effects = 0.3 + np.concatenate([half, -half])  # no skewness
    summary = summarise(effects, [str(i) for i in range(20)])
    expected = scipy_stats.ttest_1samp(effects, 0)
    np.testing.assert_allclose(summary.p_value, 2 * scipy_stats.t.sf(np.abs(expected.statistic), 19 / 2), rtol=1e-6)
    interval = expected.confidence_interval()
    np.testing.assert_allclose(summary.low, interval.low, rtol=1e-6)
    np.testing.assert_allclose(summary.high, interval.high, rtol=1e-6)
    np.testing.assert_allclose(summary.stderr, effects.std(0, ddof=1) / np.sqrt(20))
    assert summary.groups == 20


def test_skewed_effects_reach_further_on_their_long_side_and_never_less_than_students():
    effects = np.random.default_rng(0).exponential(size=(15, 200))
    summary = summarise(effects, [str(i) for i in range(15)])
    student = scipy_stats.ttest_1samp(effects, 0)
    interval = student.confidence_interval()
    assert (summary.p_value >= student.pvalue - 1e-12).all()
    assert (summary.low <= interval.low + 1e-12).all() and (summary.high >= interval.high - 1e-12).all()
    assert np.median(summary.high - interval.high) > 0.05, "the mean may lie far above a sample without large values"
    excludes_zero = (summary.low > 0) | (summary.high < 0)
    assert excludes_zero[summary.p_value < 0.05].all(), "p is the stricter of both"


@pytest.mark.parametrize("groups", [6, 12, 20])
@pytest.mark.parametrize("kind", ["normal", "exponential", "heavy-tailed"])
def test_under_the_null_p_values_are_conservative_down_to_the_tail(kind, groups):
    """With all degrees of freedom, p < 0.001 was 2 to 7 times too frequent for exponential effects."""
    rng, size = np.random.default_rng(groups), (groups, 20000)
    effects = {
        "normal": rng.normal(size=size),
        "exponential": rng.exponential(size=size) - 1,
        "heavy-tailed": rng.standard_t(3, size=size),
    }[kind]
    p = summarise(effects, [str(i) for i in range(groups)]).p_value
    assert scipy_stats.kstest(p, "uniform", alternative="greater").statistic < 0.01
    assert (p < 0.05).mean() < 0.055
    assert (p < 0.001).mean() < 0.0015


@pytest.mark.parametrize("kind", ["normal", "exponential"])
def test_of_many_maps_of_noise_few_have_a_discovery(kind):
    """With all degrees of freedom, a third of the maps with exponential effects of 12 groups had one."""
    rng, found = np.random.default_rng(0), []
    for _ in range(100):
        noise = rng.normal(size=(12, 270)) if kind == "normal" else rng.exponential(size=(12, 270)) - 1
        found.append((q_values(summarise(noise, [str(i) for i in range(12)]).p_value) < 0.05).any())
    assert np.mean(found) <= 0.1  # 0.045 in 200 maps


def test_with_too_few_groups_there_is_neither_interval_nor_p_but_an_error():
    effects = np.random.default_rng(0).normal(3, 1, size=(8, 3))
    summary = summarise(effects, list("aabbccdd"))
    assert np.isnan([summary.low, summary.high, summary.p_value]).all()
    assert (summary.stderr > 0).all() and summary.groups == 4
    assert too_few_groups(4) == "only 4 groups of examples; an interval needs 5"
    assert too_few_groups(5) is None
    assert np.isfinite(summarise(effects, list("aabbccde")).p_value).all()


@pytest.mark.parametrize("groups", [6, 8, 12, 20, 40])
@pytest.mark.parametrize(
    ("kind", "least"), [("normal", 0.935), ("exponential", 0.93), ("heavy-tailed", 0.935), ("lognormal", 0.91)]
)
def test_intervals_cover_for_few_groups_and_skewed_or_heavy_tailed_effects(kind, least, groups):
    rng = np.random.default_rng(groups)
    size = (groups, 6000)
    effects, truth = {
        "normal": (rng.normal(size=size), 0.0),
        "exponential": (rng.exponential(size=size), 1.0),
        "heavy-tailed": (rng.standard_t(3, size=size), 0.0),
        "lognormal": (np.exp(rng.normal(0, 0.8, size=size)), np.exp(0.32)),
    }[kind]
    summary = summarise(effects, [str(i) for i in range(groups)])
    covered = ((summary.low <= truth) & (truth <= summary.high)).mean()
    assert least <= covered <= 0.98


def test_copies_of_an_example_in_its_group_add_no_certainty():
    effects = np.random.default_rng(1).normal(0.3, 1, size=(12, 3))
    once = summarise(effects, [str(i) for i in range(12)])
    tripled = summarise(np.repeat(effects, 3, axis=0), [str(i) for i in range(12) for _ in range(3)])
    np.testing.assert_allclose(once.p_value, tripled.p_value)
    naive = summarise(np.repeat(effects, 3, axis=0), [str(i) for i in range(36)])
    assert (naive.p_value < tripled.p_value).all()


def test_under_the_null_five_percent_are_below_five_percent():
    """Clustered noise of 16 unequal groups: the test keeps its level, the naive one does not."""
    rng = np.random.default_rng(2)
    groups = [f"g{i}" for i in range(16) for _ in range(1 + i % 4)]
    codes = np.unique(groups, return_inverse=True)[1]
    effects = rng.normal(size=(16, 4000))[codes] + 0.5 * rng.normal(size=(len(groups), 4000))
    clustered = (summarise(effects, groups).p_value < 0.05).mean()
    naive = (summarise(effects, [str(i) for i in range(len(groups))]).p_value < 0.05).mean()
    assert 0.02 < clustered < 0.055
    assert naive > 0.1


def test_no_effect_at_all_is_no_evidence_and_a_constant_one_is():
    summary = summarise(np.array([[0.0, 1.0]] * 6), list("abcdef"))
    assert summary.p_value.tolist() == [1.0, 0.0]
    assert summary.stderr.tolist() == [0.0, 0.0]


def test_a_single_group_has_no_error():
    assert np.isnan(summarise(np.ones((3, 1)), ["a"] * 3).stderr).all()
    assert np.isnan(half_width(1))
    assert half_width(10_000) == pytest.approx(1.96, abs=0.001)


def test_q_values_follow_benjamini_and_hochberg():
    q = q_values(np.array([0.01, np.nan, 0.04, 0.03, 0.5]))
    np.testing.assert_allclose(q[[0, 2, 3, 4]], [0.04, 0.04 * 4 / 3, 0.04 * 4 / 3, 0.5])
    assert np.isnan(q[1])


def test_the_interval_of_a_share_covers_and_never_collapses():
    low, high = proportion_interval(np.ones(20), [str(i) for i in range(20)])
    assert 0.8 < low < 0.9
    assert high == 1.0
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(400):
        share = np.repeat(rng.random(25) < 0.7, 2)  # both of a group hit or miss together
        low, high = proportion_interval(share.astype(float), [str(i // 2) for i in range(50)])
        covered += low <= 0.7 <= high
    assert covered / 400 > 0.92


def test_no_hit_at_all_is_never_above_zero():
    for n in (3, 12, 96, 300):
        low, high = proportion_interval(np.zeros(n), [str(i) for i in range(n)])
        assert low == 0.0
        assert 0 < high < 1


@pytest.mark.parametrize("sizes", [[3] * 32, [8] * 4, [48, 24, 16, 12, 10, 8, 7, 6, 5, 5, 4, 4]])
def test_the_interval_of_a_share_covers_with_few_or_unequal_groups(sizes):
    rng = np.random.default_rng(4)
    groups = [str(i) for i, size in enumerate(sizes) for _ in range(size)]
    covered = 0
    for _ in range(400):
        low, high = proportion_interval(np.repeat(rng.random(len(sizes)) < 0.6, sizes).astype(float), groups)
        covered += low <= 0.6 <= high
    assert covered / 400 > 0.86


def clustered(rng, sizes, columns):
    """Values that share a part within their group; the mean of all is 0."""
    groups = [f"g{i}" for i, size in enumerate(sizes) for _ in range(size)]
    codes = np.repeat(np.arange(len(sizes)), sizes)
    return rng.normal(size=(len(sizes), columns))[codes] + 0.5 * rng.normal(size=(len(codes), columns)), groups


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([10, 9, 8, 1, 0.5, 0.2, 0.1, 0], 3),
        ([0, 0.1, -10, 0.2, 1, 9, 0.5, -8], 3),  # sizes, in any order
        ([5, 0, 0, 0, 0, 0], 1),
        ([10, 9.9, 9.8, 9.7, 9.6, 0], 1),  # above the chord all along: there is no elbow
        ([1, 1, 1], 1),
        ([2, 1], 1),
        ([np.nan, 7, 6, 0.3, np.nan, 0.2, 0.1, 0], 2),  # what was not measured takes no part
    ],
)
def test_the_elbow_is_where_the_curve_is_farthest_from_its_chord(values, count):
    assert elbow(np.array(values, dtype=float)) == count


def test_overlap_counts_the_common_largest_sizes():
    first = np.array([9.0, -8, 7, 1, 0, 2])
    second = np.array([9.0, 1, -7, 8, 0, 2])
    assert overlap(first, second, 3) == pytest.approx(2 / 3)
    assert overlap(first, first, 3) == overlap(first, -first, 3) == 1
    assert overlap(first, second, 1) == 1
    assert overlap(first, second, 6) == 1
    assert overlap(np.array([2.0, 1, 0, 0]), np.array([0.0, 0, 1, 2]), 2) == 0


def test_a_few_large_groups_count_for_little_more_than_themselves():
    assert effective_groups(list("aabbcc")) == pytest.approx(3)
    assert effective_groups(["a"] * 24 + ["b"] * 18 + list("cdefg")) == pytest.approx(47**2 / (24**2 + 18**2 + 5))


def test_groups_of_one_size_have_the_usual_clustered_variance_and_unequal_ones_a_larger_one():
    rng = np.random.default_rng(0)
    effects = rng.normal(size=(12, 3))
    equal = [str(i // 3) for i in range(12)]
    sums = (effects - effects.mean(0)).reshape(4, 3, 3).sum(1)
    expected = 4 / 3 * np.square(sums).sum(0) / 12**2
    np.testing.assert_allclose(clustered_moments(effects, equal)[0], expected)
    unequal = ["a"] * 6 + ["b"] * 4 + ["c", "d"]
    means = [np.delete(effects, [i for i, g in enumerate(unequal) if g == name], 0).mean(0) for name in "abcd"]
    jackknife = 3 / 4 * np.square(np.array(means) - effects.mean(0)).sum(0)
    np.testing.assert_allclose(clustered_moments(effects, unequal)[0], jackknife)


def test_intervals_of_unequal_groups_cover():
    """Sizes from 1 to 24, as wordings and facts have them. Groups - 1 degrees of freedom and CR1 cover about 0.87."""
    rng = np.random.default_rng(1)
    sizes = [1, 1, 1, 2, 4, 5, 6, 7, 7, 14, 18, 24]
    names = [str(i) for i, size in enumerate(sizes) for _ in range(size)]
    shared = np.repeat(rng.normal(size=(2000, len(sizes))), sizes, axis=1)
    effects = (shared + rng.normal(size=shared.shape)).T
    summary = summarise(effects, names)
    assert 0.92 < np.mean((summary.low <= 0) & (summary.high >= 0)) < 0.975
