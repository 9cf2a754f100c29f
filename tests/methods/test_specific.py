"""Shares of tasks, and what one task needs beyond the others."""

import numpy as np
import pytest

from headatlas.methods.certify import certify_all, negative
from headatlas.methods.specific import shares, specific

TASKS, HEADS = ("A", "B", "C"), 5


def certified(seed, groups, skewed=False):
    rng = np.random.default_rng(seed)
    noise = rng.exponential(1, (groups, HEADS)) - 1 if skewed else rng.normal(0, 1, (groups, HEADS))
    return certify_all(np.arange(1.0, HEADS + 1) + 0.3 * noise, [str(i) for i in range(groups)])


def test_shares_are_of_the_positive_effects():
    effects = np.tile([3.0, 1.0, -2.0], (6, 1)) + np.linspace(-0.1, 0.1, 6)[:, None]
    summary = shares(certify_all(effects, list("abcdef"))).summary
    np.testing.assert_allclose(summary.mean, [0.75, 0.25, -0.5])
    np.testing.assert_allclose(summary.high - summary.mean, summary.mean - summary.low)


def test_the_mean_share_of_the_others_is_taken_off():
    by_task = {task: shares(certified(seed, 12)) for seed, task in enumerate(TASKS)}
    found = specific(by_task)["B"].summary
    own, *others = (by_task[task].summary for task in "BAC")
    np.testing.assert_allclose(found.mean, own.mean - (others[0].mean + others[1].mean) / 2)
    errors = own.stderr**2 + (others[0].stderr ** 2 + others[1].stderr ** 2) / 4
    np.testing.assert_allclose(found.stderr, np.sqrt(errors))


def test_degrees_of_freedom_are_not_more_than_those_of_the_task():
    by_task = {"A": shares(certified(0, 40)), "B": shares(certified(1, 8)), "C": shares(certified(2, 40))}
    found = specific(by_task)
    assert (found["A"].summary.df <= 39).all()
    np.testing.assert_allclose(found["B"].summary.df, 7)


def test_third_moments_add_up_with_the_sign_of_their_weights():
    """Skewed effects of the task itself stretch the interval on one side, those of the others on the other side."""
    even, skewed = shares(certified(0, 30)), shares(certified(1, 30, skewed=True))
    even.summary.skewness[:] = 0
    itself = specific({"A": skewed, "B": even, "C": even})["A"].summary
    others = specific({"A": even, "B": skewed, "C": skewed})["A"].summary
    assert (np.sign(itself.skewness) == np.sign(skewed.summary.skewness)).all()
    assert (np.sign(others.skewness) == -np.sign(skewed.summary.skewness)).all()


@pytest.mark.parametrize("skewed", [False, True])
def test_a_loss_as_a_gain(skewed):
    loss = certified(3, 20, skewed)
    gain = negative(loss).summary
    np.testing.assert_allclose(gain.skewness, -loss.summary.skewness)
    np.testing.assert_allclose([gain.low, gain.high], [-loss.summary.high, -loss.summary.low])
