import numpy as np
import pytest

from headatlas.bootstrap import bootstrap_interval
from headatlas.stats import half_width, summarise


def test_it_agrees_with_the_clustered_error_of_a_mean():
    rng = np.random.default_rng(0)
    groups = [f"g{i // 3}" for i in range(240)]
    values = rng.normal(size=(240, 2)) + np.repeat(rng.normal(size=(80, 2)), 3, axis=0)
    low, high = bootstrap_interval(values, groups)
    summary = summarise(values, groups)
    reach = half_width(80) * summary.stderr
    np.testing.assert_allclose(low, summary.mean - reach, atol=0.15 * reach.max())
    np.testing.assert_allclose(high, summary.mean + reach, atol=0.15 * reach.max())
    again = bootstrap_interval(values, groups)
    np.testing.assert_array_equal(low, again[0])


def test_with_weights_it_is_a_ratio_and_one_group_gives_nothing():
    tokens = np.array([1.0, 2, 3, 4])
    low, high = bootstrap_interval(3 * tokens[:, None], ["a", "b", "c", "d"], tokens)
    assert (low[0], high[0]) == (pytest.approx(3), pytest.approx(3))
    assert np.isnan(bootstrap_interval(tokens[:, None], ["a"] * 4)[0]).all()
