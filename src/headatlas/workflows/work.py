"""What a worker does: follow the run of an order, compute cells that nobody has, and publish nothing."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headatlas.atlas.atlas import Atlas
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.progress import Reporter
from headatlas.run.cells import CellsFailed
from headatlas.run.context import RunContext
from headatlas.run.shared import Part, SharedRunner
from headatlas.run.store import FolderStore, Store
from headatlas.run.worker import Heartbeat, Worker
from headatlas.workflows.agreement import agree, environment_of
from headatlas.workflows.executors import Executor, Local, Slurm
from headatlas.workflows.map import make_map
from headatlas.workflows.order import Order, WorkOrder, make_order, needed_order, propose_order, read_order
from headatlas.workflows.prepare import check_folder, prepare
from headatlas.workflows.prepare_tests import TestOrder, outcomes, prepare_tests, read_test_order
from headatlas.workflows.stages import Mapped, follow


def work(
    out: Path,
    order: Order,
    store: Store,
    reporter: Reporter,
    part: Part | None = None,
    parent: int | None = None,
) -> list[CellsFailed]:
    """Follow a map to its end; what failed on the way, here or elsewhere."""
    with _present(order, store, parent) as worker:
        ready = prepare(order.parameters(), out, reporter)
        context = _sharing(ready.context, out, store, worker, reporter, part)
        if context is None:
            return []
        stages = follow(context, ready.methods, ready.named, ready.settings)
        measured = [stage.measured for stage in stages if isinstance(stage, Mapped)]
    return [outcome for outcome in measured if isinstance(outcome, CellsFailed)]


def work_on_tests(out: Path, order: TestOrder, store: Store, reporter: Reporter, parent: int | None = None) -> None:
    """Follow the tests of a map to their end."""
    with _present(order, store, parent) as worker:
        ready = prepare_tests(Atlas(out), order, reporter)
        context = _sharing(ready.trial.context, out, store, worker, reporter)
        if context is not None:
            ready.trial.context = context
            for _ in outcomes(ready):
                pass


def join(out: Path, reporter: Reporter, parent: int | None = None) -> None:
    """Work on the map that is being made in a folder, or on its tests."""
    store = FolderStore(out)
    tests = read_test_order(out)
    if tests is not None:
        store.tidy()
        work_on_tests(out, tests, store, reporter, parent)
        return
    order = read_order(out)
    store.tidy()
    work(out, order, store, reporter, parent=parent)


@contextmanager
def _present(order: WorkOrder, store: Store, parent: int | None) -> Iterator[Worker]:
    """This process as a worker that the others know of, with the threads that the order gives it."""
    import torch

    if order.threads is not None:
        torch.set_num_threads(order.threads)
    worker = Worker()
    with Heartbeat(worker, store.tell, parent):
        yield worker


def _sharing(
    context: RunContext, out: Path, store: Store, worker: Worker, reporter: Reporter, part: Part | None = None
) -> RunContext | None:
    """The context, with cells that are shared; None where everything was done before the model was loaded here."""
    if not agree(store, environment_of(context)):
        reporter.say(f"All of the work in {out} was done before this worker had loaded the model.")
        return None
    runner = SharedRunner(
        out / "cells", reporter, crew=context.runner.crew, store=store, worker=worker, part=part or Part()
    )
    return context.with_runner(runner)


def run_shard(
    parameters: Mapping[str, Any], out: Path, shard: str, executor: Executor | Slurm, reporter: Reporter
) -> None:
    """Be one of several processes that share a folder and nothing else; then `headatlas gather` makes the atlas."""
    part = read_part(shard)
    if not isinstance(executor, Local) or executor.workers > 1:
        raise UsageError(f"`shard` {shard} is one process of this machine. Start more shards, without `workers`.")
    order = needed_order(make_order({**parameters, "threads": executor.threads}))
    check_folder(out)
    store = FolderStore(out)
    propose_order(out, order)
    _check_same(read_order(out), order, out)
    store.tidy()
    if failed := work(out, order, store, reporter, part):
        raise failed[0]
    command = shlex.join(["headatlas", "gather", str(out)])
    reporter.say(f"Shard {shard}: all cells of the map are there. Put the atlas together with: {command}")


def gather(out: Path, reporter: Reporter) -> Atlas:
    """Make the atlas of the cells in a folder that shards or workers have computed; what is missing is computed."""
    order = read_order(out)
    return make_map(order.parameters(), out, Local(threads=order.threads), reporter, gather=True)


def read_part(text: str) -> Part:
    """`K/N`: part K of N, counted from 1."""
    index, slash, number = text.partition("/")
    if not (slash and index.isdecimal() and number.isdecimal() and 1 <= int(index) <= int(number)):
        raise UsageError(f"`shard` {text} was given; write K/N, such as 2/8 for the second of eight.")
    return Part(int(index) - 1, int(number))


def _check_same(there: Order, here: Order, out: Path) -> None:
    """All shards of a folder make the same map."""
    ours, theirs = (
        json.loads(order.model_dump_json(exclude={"command", "threads", "report"})) for order in (here, there)
    )
    for name, value in ours.items():
        if value != theirs[name]:
            raise HeadAtlasError(
                f"The other shards in {out} make another map: {name} is {theirs[name]!r} there and {value!r} here. "
                f"Give all shards the same options, or another `out`. Remove {out / 'work'} if nobody works there."
            )
