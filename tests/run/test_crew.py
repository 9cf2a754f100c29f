"""Cells side by side in threads: the same bytes, every unit once, and one error that ends all lanes."""

import threading
import time

import pytest
import torch

from headatlas.errors import HeadAtlasError
from headatlas.progress import Reporter
from headatlas.run import crew as crews
from headatlas.run.cells import Cell, CellKind, CellsFailed, Runner
from headatlas.run.crew import Crew, planned_lanes
from tests import tiny
from tests.model.test_heads import IDS, hook_count, own_forwards

CPU = torch.device("cpu")


@pytest.fixture
def threads():
    """Torch has three threads meanwhile, whatever the machine has."""
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield 3
    torch.set_num_threads(before)


def meeting(lanes):
    """A unit of work that ends when so many are at it."""
    barrier = threading.Barrier(lanes)
    return lambda _: barrier.wait(60)


def test_units_are_done_once_in_several_lanes(threads):
    done, model = [], tiny.model()
    Crew(model, 2).share(range(20), done.append, of=20)
    assert sorted(done) == list(range(20))
    Crew(model, 3).share(range(3), meeting(3), of=3)  # would wait in vain in fewer lanes
    assert torch.get_num_threads() == 3


def test_lanes_depend_on_the_whole_step_and_divide_the_threads(threads):
    crew, seen = Crew(tiny.model(), 2), []
    crew.share([0], lambda _: seen.append(torch.get_num_threads()), of=2)
    crew.share([0], lambda _: seen.append(torch.get_num_threads()), of=1)
    assert seen == [1, 3]
    assert [crew.lanes_of(units) for units in (0, 1, 2, 9)] == [1, 1, 2, 2]


def test_what_is_raised_in_any_lane_ends_all_of_them(threads):
    model, begun = tiny.model(), []

    def fail(unit):
        begun.append(unit)
        if unit == 1:
            raise HeadAtlasError("The disk is full.")
        while True:
            model.logits(IDS)

    with pytest.raises(HeadAtlasError, match=r"The disk is full\."):
        Crew(model, 3).share(range(100), fail, of=100)
    assert len(begun) <= 3
    assert torch.get_num_threads() == 3
    assert hook_count(model.module) == own_forwards(model.module) == 0
    model.logits(IDS)


def test_an_interrupt_while_others_work_ends_them(threads):
    model, busy = tiny.model(), threading.Event()

    def do(_):
        if threading.current_thread() is threading.main_thread():
            busy.wait(60)
            return
        busy.set()
        while True:
            model.logits(IDS)

    def watch():
        if busy.is_set():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Crew(model, 2).share(range(2), do, of=2, watch=watch)
    model.logits(IDS)


def test_what_a_unit_shares_out_stays_in_its_lane(threads):
    crew, names = Crew(tiny.model(), 2), []

    def outer(unit):
        here = threading.get_ident()
        crew.share(range(4), lambda _: names.append(threading.get_ident() == here), of=4)

    crew.share(range(2), outer, of=2)
    assert names == [True] * 8


def test_cells_of_a_group_stay_together_and_failures_are_named_in_order(tmp_path, threads):
    by_thread: dict[str, set[int]] = {}

    def cell(number, group=""):
        def compute():
            by_thread.setdefault(group or str(number), set()).add(threading.get_ident())
            time.sleep(0.01)
            if number % 5 == 0:
                raise ValueError(f"number {number}")
            return {"x": torch.tensor([number]).numpy()}

        return Cell(CellKind("test"), {"number": number}, compute, 1, group=group)

    cells = [cell(n, f"g{n // 4}") for n in range(1, 5)] + [cell(n) for n in range(5, 11)]
    runner = Runner(tmp_path, Reporter(quiet=True), crew=Crew(tiny.model(), 3))
    with pytest.raises(CellsFailed, match=r"2 of 10 cells .*number 5\. .*number 10\."):
        runner.run("Test", cells)
    assert all(len(threads) == 1 for threads in by_thread.values())
    assert len(runner.computed) == len(list(tmp_path.iterdir())) == 8


def test_small_models_on_a_processor_have_lanes(threads, monkeypatch):
    assert [planned_lanes(n, torch.float32, CPU) for n in (10**6, 10**8, 10**10)] == [1, 3, 1]
    assert planned_lanes(10**8, torch.bfloat16, CPU) == planned_lanes(10**8, torch.float32, torch.device("cuda")) == 1
    monkeypatch.setattr(crews, "LIGHT", 0)
    assert Crew.of(tiny.model()).lanes == 3
    patched = tiny.model()
    patched.layers[0].forward = patched.layers[0].forward
    assert Crew.of(patched).lanes == 1
    unique = tiny.model()
    unique.module.lock = threading.Lock()  # nothing that can be copied
    assert Crew.of(unique).lanes == 1


def test_an_interrupt_while_lanes_are_started_ends_those_that_are(threads, monkeypatch):
    crew, started = Crew(tiny.model(), 3), []
    plain = threading.Thread.start

    def start(self):
        if started:
            raise KeyboardInterrupt
        started.append(self)
        plain(self)

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(KeyboardInterrupt):
        crew.share(range(10**6), lambda _: time.sleep(0.01), of=10**6)
    assert not started[0].is_alive() and torch.get_num_threads() == 3
