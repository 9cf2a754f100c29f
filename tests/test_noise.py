"""The noise of all heads together."""

import numpy as np
import pytest

from headatlas.noise import MOST_SETS, name_of, noise_of
from headatlas.stats import summarise


def test_squares_of_parts_sum_to_the_clustered_variance():
    rng = np.random.default_rng(0)
    values, groups = rng.normal(size=(36, 5)), [str(i // 3) for i in range(36)]
    noise = noise_of(values, groups)
    assert noise.parts.shape == (12, 5)
    np.testing.assert_allclose(np.square(noise.parts).sum(0), summarise(values, groups).stderr ** 2)


def test_products_of_parts_are_the_covariance_of_the_mean():
    rng = np.random.default_rng(0)
    common = rng.normal(size=(4000, 1))
    values = np.hstack([common, common, -common]) + 0.1 * rng.normal(size=(4000, 3))
    parts = noise_of(values, [str(i) for i in range(4000)]).parts
    assert len(parts) == MOST_SETS
    correlation = np.corrcoef(parts.T)
    assert correlation[0, 1] > 0.95 and correlation[0, 2] < -0.95


def test_sets_depend_on_the_names_of_groups_and_not_on_the_order_of_examples():
    rng = np.random.default_rng(0)
    values, groups = rng.normal(size=(30, 2)), np.array([f"g{i % 25}" for i in range(30)])
    order = rng.permutation(30)
    np.testing.assert_allclose(noise_of(values, groups).parts, noise_of(values[order], groups[order]).parts)


def test_one_group_has_no_noise():
    assert noise_of(np.ones((4, 2)), ["a"] * 4) is None


@pytest.mark.parametrize("other", [[("a", "bc")], [("abc",)], [("ab",), ("c",)], [("ab", "d")]])
def test_other_texts_have_another_name(other):
    assert name_of([("ab", "c")]) != name_of(other)
    assert name_of(other) == name_of(list(other))
