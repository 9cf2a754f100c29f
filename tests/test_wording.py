import doctest
import math

import numpy as np
import pytest

from headatlas import wording
from headatlas.wording import (
    count,
    decimal,
    duration,
    elapsed,
    fitting_digits,
    gigabytes,
    head_list,
    head_name,
    interval,
    listed,
    p_value,
    percent,
    rounded,
    signed,
    significant,
    some_of,
)


def test_the_examples_of_the_docstrings_are_true():
    result = doctest.testmod(wording)
    assert result.failed == 0
    documented = [decimal, signed, fitting_digits, significant, p_value, percent, interval, count, head_name, head_list]
    documented += [rounded, duration, elapsed, gigabytes, listed, some_of]
    assert result.attempted == len(documented)


def test_a_true_minus_and_no_sign_before_what_rounds_to_zero():
    assert [decimal(value) for value in (-0.004, -0.126, 0.5)] == ["0.00", "\u22120.13", "0.50"]
    assert [signed(value) for value in (-0.004, 0.004, -0.126, 0.5)] == ["0.00", "0.00", "\u22120.13", "+0.50"]
    assert decimal(-0.4, 0) == "0"
    assert percent(-0.0001) == "0.0 %"
    assert significant(-0.0) == "0"


@pytest.mark.parametrize("missing", [None, math.nan, math.inf, -math.inf, np.float64("nan")])
def test_what_is_missing_is_a_dash_in_every_format(missing):
    formats = (decimal, signed, significant, p_value, percent)
    assert {write(missing) for write in formats} == {"\u2013"}
    assert signed(missing, fitting_digits(missing)) == "\u2013"
    assert interval(missing, 1.0) == interval(0.0, missing) == "\u2013"


def test_numbers_of_numpy_are_written_like_those_of_python():
    assert decimal(np.float32(0.5)) == "0.50"
    assert head_name(np.int64(3), np.int32(1)) == "L3H1"
    assert head_list(np.array([[3, 1], [7, 0]])) == "L3H1, L7H0"
    assert count(np.int64(2), "head") == "2 heads"


def test_p_values_have_two_digits_whatever_their_size():
    assert [p_value(p) for p in (0, 1e-300, 0.0499, 0.5, 0.994, 0.996)] == [
        "0",
        "1e\u2212300",
        "0.05",
        "0.5",
        "0.99",
        "1",
    ]


def test_large_numbers_have_fewer_decimals_only_where_asked():
    assert [decimal(value, fitting_digits(value)) for value in (9.994, 10, -99.94, 100)] == [
        "9.99",
        "10.0",
        "\u221299.9",
        "100",
    ]
    assert decimal(123.456) == "123.46"
    assert fitting_digits(1e6, digits=1) == 0


def test_percent_rounds_at_ten():
    assert [percent(share) for share in (1, 0.104, 0.1, 0.0949, 0.001)] == ["100 %", "10 %", "10 %", "9.5 %", "0.1 %"]


def test_lists_name_all_heads_when_none_are_left_over():
    heads = [(layer, 0) for layer in range(6)]
    assert head_list(heads) == "L0H0, L1H0, L2H0, L3H0, L4H0, L5H0"
    assert head_list([*heads, (6, 0)]).endswith("L5H0 and 1 more")
    assert head_list([]) == ""


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, ""), (12.4, "12 s"), (60, "1 min 0 s"), (3599.6, "1 h 0 min"), (7260, "2 h 1 min")]
)
def test_elapsed_times(seconds, text):
    assert elapsed(seconds) == text
