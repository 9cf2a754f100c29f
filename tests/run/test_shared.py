"""Cells shared out: computed once, the same bytes, whoever is killed and whatever fails."""

import itertools
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
from headatlas.run.store import FolderStore
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
    together, sums = threading.Barrier(count, timeout=60), {}

    def follow(runner):
        """In its first cell a worker waits until all others are in their first one."""
        sums[runner.worker.name] = toy.follow(runner, lambda: runner.worker.cells or together.wait())

    threads = [threading.Thread(target=follow, args=(runner,)) for runner in runners]
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


def start(out, seconds, event=0, leads=False):
    command = [sys.executable, "-m", "tests.run.toy", str(out), str(seconds), str(event)]
    return subprocess.Popen([*command, *(["lead"] if leads else [])], stdout=subprocess.PIPE, text=True)


def test_processes_killed_at_any_moment_leave_the_same_bytes_and_no_lock(tmp_path, alone):
    """Real processes, really killed, before a file is touched: the one that leads as well as the one that helps."""
    draw, ended = random.Random(0), []
    for most in (20, 60, 150, 150, 300, 300):
        pair = [start(tmp_path, 0.01, draw.randint(1, most), leads) for leads in (True, False)]
        ended += [(process.communicate(timeout=60)[0].strip(), process.returncode) for process in pair]
    assert ended[0] == ended[1] == ("", -signal.SIGKILL), "so few events are not enough for a run"
    assert set(ended) <= {("", -signal.SIGKILL), (str(alone[0]), -signal.SIGKILL), (str(alone[0]), 0)}
    last = start(tmp_path, 0, leads=True)
    assert last.communicate(timeout=60)[0].strip() == str(alone[0])
    assert contents(tmp_path) == alone[1]
    assert not (tmp_path / "work").exists()


def test_a_worker_waits_for_another_and_takes_over_its_cell_when_that_is_killed(tmp_path):
    """The other one is killed in the middle of a cell, when all cells of the step but that one are done."""
    other, store, looks = start(tmp_path, 600), FolderStore(tmp_path), itertools.count(1)
    while not store.claims():
        assert other.poll() is None
        time.sleep(0.01)
    (holder,) = store.claims().values()
    assert store.worker(holder).pid == other.pid

    def watch():
        """Called before each unit of the step, and then once in every look at the last one."""
        if next(looks) == toy.CELLS + 2:
            assert set(store.claims().values()) == {holder} and len(store.finished()) == toy.CELLS - 1
            other.kill()
            other.communicate()

    runner = runner_of(tmp_path, "w", watch=watch)
    toy.follow(runner)
    assert next(looks) > toy.CELLS + 2
    assert runner.worker.cells == toy.STEPS * toy.CELLS and store.claims() == {}
