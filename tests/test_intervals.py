"""Intervals: how often they cover, that they do not collapse, and that too few groups or sets give none."""

import numpy as np
import pytest

from headatlas.intervals import change_interval, mean_interval, ratio_interval, set_interval, too_few

KINDS = {
    "normal": lambda rng, size: rng.normal(1, 1, size),
    "exponential": lambda rng, size: rng.exponential(1, size),
    "heavy tails": lambda rng, size: 1 + rng.standard_t(3, size),
}


def names(count: int, size: int = 1) -> list[str]:
    return [str(i // size) for i in range(count * size)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("groups", [6, 8, 20])
def test_intervals_of_means_cover_what_they_promise(kind, groups):
    """A clustered bootstrap covers .90 of exponential effects with 8 groups."""
    rng = np.random.default_rng(groups)
    effects = KINDS[kind](rng, (groups, 4000))
    low, high = mean_interval(effects, names(groups))
    assert 0.925 < np.mean((low <= 1) & (high >= 1)) < 0.985


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_of_ratios_cover_what_they_promise(kind):
    rng = np.random.default_rng(0)
    sizes = 2 + KINDS[kind](rng, (10, 4000))
    low, high = ratio_interval(0.5 * sizes + KINDS[kind](rng, (10, 4000)) - 1, sizes, names(10))
    assert 0.925 < np.mean((low <= 0.5) & (high >= 0.5)) < 0.99


def test_a_ratio_of_equal_sizes_is_a_mean():
    values = np.random.default_rng(0).normal(size=(12, 3))
    np.testing.assert_allclose(
        ratio_interval(values, np.full((12, 1), 2.0), names(12)), mean_interval(values / 2, names(12))
    )


@pytest.mark.parametrize(("groups", "size", "lost"), [(8, 1, 0.1), (16, 1, 0.1), (8, 2, 0.3), (12, 1, 0.02)])
def test_intervals_of_changes_of_accuracy_cover_where_hardly_anything_flips(groups, size, lost):
    """A bootstrap has no width where nothing flips: with one flip in ten it covers .57 with 8 groups."""
    rng = np.random.default_rng(0)
    before = np.ones(groups * size)
    after = (rng.random((groups * size, 400)) > lost).astype(float)
    low, high = change_interval(before, after, names(groups, size))
    assert np.mean((low <= -lost) & (high >= -lost)) > 0.93


def test_where_nothing_flips_a_change_is_around_zero_and_narrower_with_more_examples():
    hits = np.array([1.0, 0.0] * 20)
    few = change_interval(hits[:8], hits[:8], names(8))
    many = change_interval(hits, hits, names(40))
    assert few[0] < many[0] < 0 < many[1] < few[1]
    assert few[1] == pytest.approx(-few[0])
    agreeing = change_interval(hits, hits, names(20, 2))
    assert agreeing[1] > many[1], "pairs that always agree are worth less"


def test_changes_of_accuracy_lie_between_all_lost_and_all_gained():
    before, after = np.ones(6), np.zeros(6)
    low, high = change_interval(before, after, names(6))
    assert low == pytest.approx(-1)
    assert -1 < high < 0
    back = change_interval(after, before, names(6))
    np.testing.assert_allclose(back, (-high, -low))


@pytest.mark.parametrize(("sets", "examples"), [(7, 8), (7, 64), (20, 8), (20, 64)])
@pytest.mark.parametrize("skewed", [False, True])
def test_a_random_set_of_heads_is_rarely_called_different_from_random_sets(sets, examples, skewed):
    """The examples alone call it so in more than a third of cases once there are many of them."""
    rng = np.random.default_rng(0)
    called, by_examples = [], []
    for _ in range(400):
        of_set = -rng.exponential(size=sets + 1) if skewed else rng.normal(size=sets + 1)
        values = of_set[:, None] + rng.normal(size=(sets + 1, examples)) + rng.normal(0, 2, size=examples)
        low, high = set_interval(values[0], values[1:], names(examples))
        called.append(low > 0 or high < 0)
        plain = mean_interval(values[0] - values[1:].mean(0), names(examples))
        by_examples.append(plain[0] > 0 or plain[1] < 0)
    assert np.mean(called) < 0.08
    assert np.mean(by_examples) > 0.3


def test_a_set_that_differs_is_called_different_and_the_interval_holds_the_difference():
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=(20, 12)) * 0.1
    chosen = rng.normal(-3, 0.5, size=12)
    low, high = set_interval(chosen, drawn, names(12))
    assert low < chosen.mean() - drawn.mean() < high < 0
    same = np.ones((20, 12))
    assert set_interval(same[0], same, names(12)) == (0, 0)
    low, high = set_interval(same[0], same, names(12), is_share=True)
    assert low < -0.1 and high > 0.1, "shares of hits have a width where nothing flips"


def test_with_too_few_groups_or_sets_there_is_no_interval_and_the_reason_is_said():
    values = np.random.default_rng(0).normal(size=(8, 3))
    for interval in (mean_interval(values, names(4, 2)), ratio_interval(values, values + 9, names(4, 2))):
        assert np.isnan(interval).all() and np.shape(interval) == (2, 3)
    assert np.isnan(change_interval(np.ones(8), np.ones((8, 3)), names(4, 2))).all()
    assert np.isnan(set_interval(values[:, 0], np.ones((20, 8)), names(4, 2))).all()
    assert np.isnan(set_interval(values[:, 0], np.ones((4, 8)), names(8))).all()
    assert too_few(names(4, 2)) == "only 4 groups of examples; an interval needs 5"
    assert too_few(["a", "a"]) == "only 1 group of examples; an interval needs 5"
    assert too_few(names(8), 2) == "only 2 sets of heads to compare with; an interval needs 5"
    assert too_few(names(5), 5) is None
