import numpy as np

from headatlas.patterns.phrases import null_range, slightly


def test_the_range_of_null_draws_is_their_middle_95_percent():
    assert null_range(np.linspace(0, 1, 1001), 3) == "0.025 to 0.975"
    assert null_range(np.array([-0.3, -0.001])) == "\u22120.3 to 0.0"


def test_below_a_fiftieth_a_shift_is_slight_in_either_direction():
    assert slightly(0.019) == slightly(-0.019) == "slightly "
    assert slightly(0.02) == slightly(-0.02) == ""
