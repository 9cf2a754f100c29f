import numpy as np
import pytest

from headatlas.patterns.correction import holm, max_t, normal_scores, tail_share
from headatlas.patterns.finding import Statement


def statement(observed, draws, sides=1):
    return Statement(("Task",), "yes", "no", 0.0, 0.0, observed=observed, draws=draws, sides=sides)


def test_holm_and_tail_shares_by_hand():
    np.testing.assert_allclose(holm([0.01, 0.001, 0.5]), [2 * 0.02, 2 * 0.003, 1])
    assert tail_share(2.0, np.array([1.0, 2.0, 3.0])) == 3 / 4
    assert tail_share(9.0, np.array([1.0, 2.0, 3.0])) == 1 / 4


@pytest.mark.parametrize("shape", [1.0, 4.0, 100.0])
def test_skewed_statistics_become_about_standard_normal(shape):
    """The 95 % quantile of a gamma distribution has a score near 1.645, whatever its skewness."""
    rng = np.random.default_rng(0)
    draws = rng.gamma(shape, size=40_000)
    score, null = normal_scores(statement(float(np.quantile(draws, 0.95)), draws))
    assert score == pytest.approx(1.645, abs=0.08)
    assert np.mean(null) == pytest.approx(0, abs=0.1) and np.std(null) == pytest.approx(1, abs=0.1)


def test_two_sided_statements_count_both_tails():
    draws = np.random.default_rng(0).normal(size=4000)
    _, one_sided, _ = max_t([statement(-3.0, draws)])
    _, two_sided, _ = max_t([statement(-3.0, draws, sides=2)])
    assert one_sided[0] > 0.99
    assert two_sided[0] < 0.01


def test_more_statements_make_the_same_one_less_certain():
    rng = np.random.default_rng(0)
    alone = [statement(3.0, rng.normal(size=4000))]
    _, _, adjusted = max_t(alone)
    _, _, among_many = max_t(alone + [statement(0.0, rng.normal(size=4000)) for _ in range(30)])
    assert adjusted[0] < 0.01 < among_many[0]


def test_equal_draws_support_nothing():
    _, _, adjusted = max_t([statement(5.0, np.ones(100))])
    assert adjusted.tolist() == [1.0]
