"""The driver of a map or of its tests: it shares out cells, computes some itself, and notices when workers are lost."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from headatlas.files import remove, write_bytes
from headatlas.progress import Reporter
from headatlas.run.context import RunContext
from headatlas.run.shared import SharedRunner
from headatlas.run.store import ORDER, PLAN, TESTING, FolderStore
from headatlas.run.worker import Heartbeat, Worker
from headatlas.workflows.agreement import agree, environment_of
from headatlas.workflows.executors.base import Executor
from headatlas.workflows.order import WorkOrder, write_order
from headatlas.workflows.plan import Plan

LOOK = 0.5  # seconds between two looks at the workers


class Watch:
    """Starts the workers when there is something to compute, and says which are lost."""

    def __init__(self, executor: Executor, out: Path, order: WorkOrder | None, reporter: Reporter):
        self.executor, self.out, self.order, self.reporter = executor, out, order, reporter
        self._started, self._last = False, 0.0

    def __call__(self) -> None:
        if self.order is None:
            return
        if not self._started:
            self._started = True
            self.executor.start(self.out, self.order)
        now = time.monotonic()
        if now - self._last > LOOK:
            self._last = now
            self.look()

    def look(self) -> None:
        for sentence in self.executor.lost():
            self.reporter.say(sentence)


@contextmanager
def lead(
    out: Path,
    order: WorkOrder | None,
    executor: Executor,
    context: RunContext,
    plan: Plan | None,
    reporter: Reporter,
    gather: bool = False,
) -> Iterator[RunContext]:
    """The context in which cells are shared with workers. At the end of a map that succeeds only its results are left;
    after one that fails, `headatlas status` can say what was done."""
    store, worker = FolderStore(out), Worker()
    store.lead(keep_environment=gather)
    agree(store, environment_of(context))
    for name in (ORDER, TESTING):  # one may have been left by a run that was killed
        if order is not None and name != order.FILE:
            remove(store.work / name)
    if order is not None:
        write_order(out, order)
    if plan is not None:
        write_bytes(store.work / PLAN, json.dumps([asdict(stage) for stage in plan.stages]).encode())
    watch = Watch(executor, out, order, reporter)
    runner = SharedRunner(
        out / "cells", reporter, crew=context.runner.crew, store=store, worker=worker, present=store.finished(),
        watch=watch,
    )  # fmt: skip
    try:
        with Heartbeat(worker, store.tell):
            yield context.with_runner(runner)
        watch.look()
    finally:
        executor.stop()
        store.tidy_claims()
    store.close()
