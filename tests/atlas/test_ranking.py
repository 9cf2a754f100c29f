"""The one rule by which heads are ranked."""

import numpy as np

from headatlas.atlas.ranking import head_order, head_ranks
from headatlas.methods import METHODS

VALUES = np.array([0.5, -2.0, 1.0, 0.5])


def test_the_largest_value_comes_first_and_the_most_harmful_head_last():
    info = METHODS["attribute"].info
    assert head_order(VALUES, info, info.primary).tolist() == [2, 0, 3, 1]
    assert head_ranks(VALUES, info, info.primary).tolist() == [2, 4, 1, 3]


def test_a_method_may_declare_that_small_values_come_first():
    """A closed gate of a contrast is a head that the forgotten task needs."""
    info = METHODS["contrast"].info
    assert info.ranking == "smallest gate first"
    assert head_order(VALUES, info, "gate").tolist() == [1, 0, 3, 2]
    assert head_order(VALUES, info, "another measure").tolist() == [2, 0, 3, 1]
