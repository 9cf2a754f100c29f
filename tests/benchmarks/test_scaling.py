"""The table of costs, from given seconds."""

import pytest

from benchmarks.scaling import KINDS, SIZES, as_markdown, slope


def test_the_slope_is_the_power_of_the_size():
    assert slope((1, 2, 4, 8), [3.0, 6.0, 12.0, 24.0]) == pytest.approx(1)
    assert slope((3, 6, 12), [9.0, 36.0, 144.0]) == pytest.approx(2)


def test_each_kind_and_axis_has_a_row():
    seconds = {(kind, name, size): size**0.5 for kind in KINDS for name, sizes in SIZES.items() for size in sizes}
    rows = as_markdown(seconds).splitlines()[2:]
    assert len(rows) == len(KINDS) * len(SIZES)
    assert rows[0] == "| exact effects | examples | 8, 16, 32, 64 | 2.83, 4.00, 5.66, 8.00 | 0.50 |"
