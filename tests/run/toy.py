"""A run without a model: three steps, each of which depends on the results of the one before.

`python -m tests.run.toy FOLDER SECONDS EVENT [lead]` follows it, alone or beside others, with cells that take so long.
It is killed at that event of the file system in the folder.
"""

import itertools
import os
import signal
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
EVENTS = ("open", "os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir")


def follow(runner, before=lambda: None):
    """The sum of the last step; `before` is called in every cell."""
    total = 0
    for step in range(STEPS):
        results = runner.run(f"Step {step}", [_cell(step, number, total, before) for number in range(CELLS)])
        total = int(sum(result["x"].sum() for result in results)) % 1009
    return total


def _cell(step, number, total, before):
    def compute():
        before()
        return {"x": np.arange(4) * (number + total) % 97}

    return Cell(KIND, {"step": step, "number": number, "before": total}, compute, tokens=1 + number)


def make_runner(out, worker, **options):
    store = FolderStore(out)
    return SharedRunner(out / "cells", Reporter(quiet=True), store=store, worker=worker, **options)


def die_at(event, folder):
    """Be killed before a file of the folder is opened, linked, renamed or removed for the `event`th time."""
    events = itertools.count(1)

    def is_ours(name, arguments):
        paths = [os.fspath(path) for path in arguments if isinstance(path, str | os.PathLike)]
        return name in EVENTS and any(folder in path for path in paths)

    def hook(name, arguments):
        if is_ours(name, arguments) and next(events) == event:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


if __name__ == "__main__":
    folder, seconds, event, leads = Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), "lead" in sys.argv
    die_at(event, str(folder))
    runner = make_runner(folder, Worker())
    if leads:
        runner.store.lead()
    runner.store.agree({"toy": "1"})
    with Heartbeat(runner.worker, runner.store.tell):
        print(follow(runner, lambda: time.sleep(seconds)))
    if leads:
        runner.store.close()
