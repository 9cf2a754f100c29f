"""Timing two things so that the noise of the machine hits both."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence


def seconds(run: Callable[[], object]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def processor_seconds(run: Callable[[], object]) -> float:
    """What a run takes of the processor, which other programs do not lengthen much."""
    begin = time.process_time()
    run()
    return time.process_time() - begin


def interleaved(runs: Sequence[Callable[[], object]], repeats: int = 5) -> list[float]:
    """The median seconds of each run, taken in turns after a warm-up."""
    for run in runs:
        run()
    rounds = [[seconds(run) for run in runs] for _ in range(repeats)]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


def report(name: str, value: float, unit: str, bound: str) -> None:
    print(f"{name:66s} {value:9.2f} {unit:10s} {bound}", flush=True)
