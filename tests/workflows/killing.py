"""A map of the small model that is killed in every method and then continued: python -m tests.workflows.killing FOLDER

Every run is a process of its own. They are forks of this one, so that torch is imported once.
"""

import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from headatlas.methods import METHODS
from headatlas.progress import Reporter
from headatlas.run import store
from headatlas.workflows.map import map_heads
from tests import tiny

# Of every method that runs by default, in the order of their turns: which of the cells that it computes is not written.
KILLED_AT = {"attribute": 2, "attention": 3, "ablate": 4, "probe": 1, "gate": 5}


def in_fork(work: Callable[[], object]) -> int:
    """How a process that did the work ended: with 0, with 1 after an error, or with minus the signal that killed it."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def map_tiny(out: Path, report: bool = True) -> None:
    map_heads(tiny.model(), tiny.suite(), out=out, at_chance=True, report=report, reporter=Reporter(quiet=True))


def map_and_die(out: Path, method: str, report: bool) -> None:
    """Die in place of writing a cell of the method."""
    kind = METHODS[method]
    measure, write, left = kind.measure, store.write_bytes, KILLED_AT[method]

    def counting(path, content, tag):
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        write(path, content, tag)

    def measured(self, context):
        store.write_bytes = counting
        return measure(self, context)

    kind.measure = measured
    map_tiny(out, report)


if __name__ == "__main__":
    out = Path(sys.argv[1])
    for method in KILLED_AT:
        # The last one publishes a stage, of which nothing may be left.
        ended = in_fork(lambda method=method: map_and_die(out, method, report=method == "gate"))
        print(method, ended, len(list((out / "cells").glob("*.safetensors"))), flush=True)
    print("continued", in_fork(lambda: map_tiny(out)), flush=True)
