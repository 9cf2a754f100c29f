import numpy as np
import pytest

from headatlas.suites.audit.effect_sizes import cohens_d, cramers_v


def test_cohens_d_by_hand():
    assert cohens_d([1, 2, 3], [2, 3, 4]) == pytest.approx(1.0)
    assert cohens_d([2, 3, 4], [1, 2, 3]) == pytest.approx(1.0)
    assert cohens_d([1, 1], [1, 1]) == 0.0
    assert cohens_d([1, 1], [2, 2]) == np.inf


def test_cramers_v_by_hand():
    assert cramers_v({"a": [True] * 4, "b": [False] * 9}) == pytest.approx(1.0)
    assert cramers_v({"a": [True, False], "b": [True, False]}) == pytest.approx(0.0)
    # The phi coefficient of [[0, 2], [1, 1]]: |0 * 1 - 2 * 1| / sqrt(2 * 2 * 1 * 3)
    assert cramers_v({"a": [False, False], "b": [True, False]}) == pytest.approx(2 / np.sqrt(12))
    # Of three tasks only one has the property: chi-squared over n, with one degree of freedom left by the two columns.
    assert cramers_v({"a": [True] * 2, "b": [False] * 2, "c": [False] * 2}) == pytest.approx(1.0)


def test_a_property_that_all_or_none_have_does_not_depend_on_the_task():
    assert cramers_v({"a": [True] * 9, "b": [True] * 5}) == 0.0
    assert cramers_v({"a": [False] * 9, "b": [False] * 5}) == 0.0
    assert cramers_v({"a": [True, False]}) == 0.0
