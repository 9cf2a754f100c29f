import numpy as np
import pytest

from headatlas.errors import HeadAtlasError
from headatlas.methods.gate.roles import always, at_least_once
from headatlas.views.page.seeds import UNMEASURED, ZERO, join, take


def test_roles_are_joined_as_their_figure_joins_them():
    stack = np.random.default_rng(0).uniform(0, 1, (5, 200))
    joined = join(stack)
    np.testing.assert_array_equal(take(stack, joined.always), always(stack))
    np.testing.assert_array_equal(take(stack, joined.any), at_least_once(stack))
    np.testing.assert_array_equal(take(stack, joined.least), stack.min(0))
    np.testing.assert_array_equal(take(stack, joined.most), stack.max(0))


def test_signed_values_are_nearest_to_and_farthest_from_zero():
    stack = np.array([[1.0, -3.0, -1.0, np.nan, np.nan, 0.0], [2.0, -2.0, 4.0, 5.0, np.nan, 0.0]])
    joined = join(stack)
    np.testing.assert_array_equal(take(stack, joined.always), [1, -2, 0, 5, np.nan, 0])
    np.testing.assert_array_equal(take(stack, joined.any), [2, -3, 4, 5, np.nan, 0])
    np.testing.assert_array_equal(take(stack, joined.least), [1, -3, -1, 5, np.nan, 0])
    np.testing.assert_array_equal(take(stack, joined.most), [2, -2, 4, 5, np.nan, 0])
    assert joined.always[2] == ZERO and joined.always[4] == UNMEASURED


def test_so_many_seeds_are_refused():
    with pytest.raises(HeadAtlasError, match="255 seeds; the page can show up to 254"):
        join(np.zeros((255, 2)))
