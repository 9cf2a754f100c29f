import numpy as np
import pytest
from scipy import stats as scipy_stats

from headatlas.stats import half_width, proportion_interval, q_values, summarise


def test_one_example_a_group_is_the_ordinary_t_test():
    effects = np.random.default_rng(0).normal(0.3, 1, size=(20, 4))
    found = summarise(effects, [str(i) for i in range(20)])
    expected = scipy_stats.ttest_1samp(effects, 0)
    np.testing.assert_allclose(found.p_value, expected.pvalue)
    np.testing.assert_allclose(found.stderr, effects.std(0, ddof=1) / np.sqrt(20))
    assert found.groups == 20


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
    assert 0.03 < clustered < 0.085
    assert naive > 0.12


def test_no_effect_at_all_is_no_evidence_and_a_constant_one_is():
    found = summarise(np.array([[0.0, 1.0]] * 6), list("abcdef"))
    assert found.p_value.tolist() == [1.0, 0.0]
    assert found.stderr.tolist() == [0.0, 0.0]


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
