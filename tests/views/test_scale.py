"""Round numbers for scales and ticks."""

import numpy as np
import pytest

from headatlas.atlas.declarations import Measure
from headatlas.views.scale import map_scale, scale_ticks, scale_top, tick_step


@pytest.mark.parametrize(
    ("values", "top"),
    [([0.0042], 0.005), ([0.3], 0.3), ([12.0], 15.0), ([0.0], 1.0), ([1e-6], 0.0005), ([np.nan, 2], 2)],
)
def test_the_scale_ends_at_a_round_number(values, top):
    assert scale_top(np.array(values)) == (pytest.approx(top), False)


def test_outliers_are_clipped_and_said_so():
    values = np.concatenate([np.linspace(0, 1, 1000), [50.0]])
    assert scale_top(values) == (1.0, True)


def test_ticks_begin_at_zero_end_at_the_top_and_are_few():
    for top in (0.0005, 0.0015, 0.002, 0.0025, 0.003, 0.004, 0.005, 0.006, 0.008, 0.1, 20):
        ticks = scale_ticks(top)
        assert ticks[0] == 0
        assert ticks[-1] == pytest.approx(top)
        assert 4 <= len(ticks) <= 6
        printed = [f"{tick:.4f}" for tick in ticks]
        assert len(set(printed)) == len(printed)


def test_axis_ticks_fit():
    assert [tick_step(n) for n in (4, 7, 9, 12, 24, 32, 48, 64, 80)] == [1, 2, 3, 6, 6, 6, 6, 12, 12]


def test_a_measure_decides_its_scale():
    sizes = np.array([0.1, 0.3])
    measured = map_scale(Measure(name="importance", meaning="", unit="nats"), sizes)
    assert (measured.top, measured.clipped, measured.label) == (pytest.approx(0.3), False, "size of importance (nats)")
    share = map_scale(Measure(name="gate_plus", meaning="", unit="", zero_to_one=True), sizes)
    assert (share.top, share.clipped, share.label) == (1.0, False, "gate plus")
