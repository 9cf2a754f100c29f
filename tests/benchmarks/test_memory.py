"""The table of memory, from given bytes."""

import time

import pytest

from benchmarks.memory import as_markdown, stopped_after


def test_the_peak_is_that_of_the_largest_stage_with_the_weights():
    rows = [
        {"stage": "first", "weights": 100_000_000, "planned": 50_000_000, "taken": 40_000_000},
        {"stage": "second", "weights": 100_000_000, "planned": 30_000_000, "taken": 60_000_000},
    ]
    assert as_markdown("small", rows).splitlines() == [
        "| small | first | 50 MB | 40 MB | 1.25 |",
        "| small | second | 30 MB | 60 MB | 0.50 |",
        "| small | peak, with 100 MB of weights | 150 MB | 160 MB | 0.94 |",
    ]


def test_what_runs_too_long_is_stopped():
    with pytest.raises(TimeoutError), stopped_after(0.01):
        while True:
            pass
    with stopped_after(100):
        time.sleep(0)
