"""A run without a model: three steps, each of which depends on the results of the one before.

`python -m tests.run.toy FOLDER SECONDS [lead]` follows it, alone or beside others.
"""

import sys
import time
from pathlib import Path

import numpy as np

from headatlas.progress import Reporter
from headatlas.run.cells import Cell, CellKind
from headatlas.run.shared import SharedRunner
from headatlas.run.store import FolderStore
from headatlas.run.worker import Heartbeat, Worker

KIND = CellKind("toy")
STEPS, CELLS = 3, 8


def follow(runner, seconds=0.0):
    """The sum of the last step."""
    total = 0
    for step in range(STEPS):
        results = runner.run(f"Step {step}", [_cell(step, number, total, seconds) for number in range(CELLS)])
        total = int(sum(result["x"].sum() for result in results)) % 1009
    return total


def _cell(step, number, before, seconds):
    def compute():
        time.sleep(seconds)
        return {"x": np.arange(4) * (number + before) % 97}

    return Cell(KIND, {"step": step, "number": number, "before": before}, compute, tokens=1 + number)


def make_runner(out, worker, **options):
    store = FolderStore(out)
    return SharedRunner(out / "cells", Reporter(quiet=True), store=store, worker=worker, **options)


if __name__ == "__main__":
    folder, seconds, leads = Path(sys.argv[1]), float(sys.argv[2]), "lead" in sys.argv
    runner = make_runner(folder, Worker())
    if leads:
        runner.store.lead()
    with Heartbeat(runner.worker, runner.store.tell):
        print(follow(runner, seconds))
    if leads:
        runner.store.close()
