"""Cells shared out: computed once, the same bytes, whoever is killed and whatever fails."""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from headatlas.run.cells import Cell, CellKind, CellsFailed
from headatlas.run.shared import Part
from headatlas.run.worker import Worker
from tests.run import toy


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The toy run of one worker: its sum and the bytes of its cells."""
    out = tmp_path_factory.mktemp("alone")
    worker = Worker()
    return toy.follow(toy.make_runner(out, worker)), contents(out)


def contents(out):
    return {path.name: path.read_bytes() for path in (out / "cells").iterdir()}


def runner_of(out, name, **options):
    worker = Worker(name=name)
    runner = toy.make_runner(out, worker, **options)
    runner.store.tell(worker.record())
    return runner


@pytest.mark.parametrize("count", [2, 3])
def test_workers_share_cells_and_come_to_the_same_bytes(tmp_path, alone, count):
    runners = [runner_of(tmp_path, f"w{number}", part=Part(number, count)) for number in range(count)]
    sums = {}
    threads = [
        threading.Thread(target=lambda runner=runner: sums.update({runner.worker.name: toy.follow(runner, 0.01)}))
        for runner in runners
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(sums.values()) == {alone[0]} and len(sums) == count
    assert contents(tmp_path) == alone[1]
    assert sum(runner.worker.cells for runner in runners) == toy.STEPS * toy.CELLS
    assert min(runner.worker.cells for runner in runners) > 0
    assert runners[0].store.claims() == {}


def test_a_worker_begins_with_its_part_and_then_does_the_rest(tmp_path):
    done = []
    cells = [
        Cell(toy.KIND, {"n": n}, lambda n=n: done.append(n) or {"x": np.zeros(1)}, tokens=10 - n) for n in range(6)
    ]
    runner_of(tmp_path, "w", part=Part(1, 3)).run("", cells)
    assert done == [1, 4, 2, 5, 0, 3]


def test_cells_of_a_group_are_taken_together(tmp_path):
    a, b = runner_of(tmp_path, "a"), runner_of(tmp_path, "b")
    seen = []

    def compute():
        seen.append(b.store.take("first", "b"))
        return {"x": np.zeros(1)}

    cells = [Cell(toy.KIND, {"n": n}, compute, tokens=1, group="first") for n in range(2)]
    a.run("", cells)
    assert seen == [False, False] and a.worker.cells == 2


def test_a_cell_that_fails_is_named_for_all_workers_and_the_others_are_done(tmp_path):
    def fail():
        raise MemoryError("too large")

    bad = Cell(CellKind("ablation"), {"n": 0}, fail, tokens=9, examples=lambda: "Colours (Colours-3)")
    good = Cell(toy.KIND, {"n": 1}, lambda: {"x": np.zeros(1)}, tokens=1)
    first, second = runner_of(tmp_path, "a"), runner_of(tmp_path, "b")
    for runner in (first, second):
        with pytest.raises(CellsFailed, match=r"1 of 2 cells of Removal failed; the others are done. ablation of "
                           r"Colours \(Colours-3\): MemoryError: too large. Run the same command again"):  # fmt: skip
            runner.run("Removal", [bad, good])
    assert (first.worker.cells, second.worker.cells) == (1, 0)
    first.store.lead()
    repaired = Cell(bad.kind, bad.inputs, lambda: {"x": np.ones(1)}, tokens=9)
    assert runner_of(tmp_path, "c").run("Removal", [repaired, good])[0]["x"] == 1


def test_a_result_that_somebody_else_wrote_meanwhile_counts_for_both(tmp_path):
    a, b = runner_of(tmp_path, "a"), runner_of(tmp_path, "b")

    def cell(value, before=lambda: None):
        return Cell(toy.KIND, {"n": 0}, lambda: before() or {"x": np.full(1, value)}, tokens=1)

    slow = cell(1.0, before=lambda: b.keep(cell(2.0), {"x": np.full(1, 2.0)}))
    assert a.run("", [slow])[0]["x"] == b.run("", [cell(3.0)])[0]["x"] == 2


def test_cells_that_were_there_before_the_run_are_counted_apart(tmp_path):
    toy.follow(runner_of(tmp_path, "a"))
    again = runner_of(tmp_path, "b", present=frozenset(path.stem for path in (tmp_path / "cells").iterdir()))
    toy.follow(again)
    assert (len(again.reused), len(again.computed)) == (toy.STEPS * toy.CELLS, 0)
    beside = runner_of(tmp_path, "c")
    toy.follow(beside)
    assert (len(beside.reused), len(beside.computed)) == (0, toy.STEPS * toy.CELLS)


def test_processes_killed_at_random_moments_leave_the_same_bytes_and_no_lock(tmp_path, alone):
    """Real processes, really killed: the one that leads as well as the one that helps."""
    draw = random.Random(0)

    def start(leads):
        command = [sys.executable, "-m", "tests.run.toy", str(tmp_path), "0.05", *(["lead"] if leads else [])]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    processes, kills = {leads: start(leads) for leads in (True, False)}, 0
    while kills < 5:
        time.sleep(draw.uniform(0.2, 0.6))
        leads = draw.random() < 0.5
        if processes[leads].poll() is None:
            os.kill(processes[leads].pid, signal.SIGKILL)
            kills += processes[leads].wait() == -signal.SIGKILL
        processes[leads].communicate()
        processes[leads] = start(leads)
    assert processes[True].communicate()[0].strip() == str(alone[0])
    processes[False].communicate()
    last = start(True)  # a helper may have come after the end
    assert last.communicate()[0].strip() == str(alone[0])
    assert contents(tmp_path) == alone[1]
    assert not (tmp_path / "work").exists()
