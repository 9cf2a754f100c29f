import base64

import numpy as np
import pytest

from headatlas.stats import LEVEL
from headatlas.views.page.encoding import number, packed_floats, packed_halves, packed_q, packed_ranks, plain


def halves(packed):
    return np.frombuffer(base64.b64decode(packed["bytes"]), dtype="<f2").astype(float) * packed["scale"]


def test_numbers_are_short():
    assert [number(v) for v in (0.123456, 1234567.8, 3.0, float("nan"), -1e-7)] == [0.1235, 1234567.8, 3, None, -1e-7]


def test_values_of_tables_become_json():
    assert [plain(value) for value in (None, np.bool_(True), np.int32(3), np.float64(0.5), "text", np.nan)] == [
        None, True, 3, 0.5, "text", None,
    ]  # fmt: skip


def test_floats_keep_single_precision():
    values = np.array([1 / 3, -1e-9, np.nan])
    unpacked = np.frombuffer(base64.b64decode(packed_floats(values)["bytes"]), dtype="<f4")
    np.testing.assert_array_equal(unpacked, values.astype(np.float32))


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1.0, 1e6])
def test_halves_are_off_by_less_than_a_two_thousandth(size):
    values = np.append(np.random.default_rng(0).normal(0, size, 500), np.nan)
    unpacked = halves(packed_halves(values))
    large = np.abs(values) > size * 1e-3
    np.testing.assert_allclose(unpacked[large], values[large], rtol=5e-4)
    assert np.isnan(unpacked[-1])


def test_nothing_finite_is_null_and_zeros_stay():
    assert packed_halves(np.full(3, np.nan)) is None
    assert halves(packed_halves(np.zeros(3))).tolist() == [0, 0, 0]


def test_rounding_never_makes_a_head_distinguishable_or_takes_that_away():
    q = np.concatenate([np.linspace(0, 0.1, 2001), LEVEL * (1 + np.array([-1e-3, -1e-6, 0, 1e-9, 1e-5])), [1.0]])
    np.testing.assert_array_equal(halves(packed_q(q)) < LEVEL, q < LEVEL)


def test_ranks_take_two_bytes_unless_the_model_has_very_many_heads():
    assert packed_ranks(np.array([2, 0, 1])) == {"bytes": base64.b64encode(b"\2\0\0\0\1\0").decode(), "width": 2}
    assert packed_ranks(np.arange(70_000))["width"] == 4
