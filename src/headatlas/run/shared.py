"""Cells shared out among workers that all follow the same run.

Every worker calls `run` with the same cells in the same order of steps, because what comes next depends only on results
that all of them read. A worker computes cells that nobody has, and waits for those that others compute.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from headatlas.progress import Advance, CellsCourse
from headatlas.run.cells import Cell, CellsFailed, Result, Runner, encode, in_groups, largest_first
from headatlas.run.store import Store
from headatlas.run.worker import Worker

QUICK, SLOW = 0.02, 0.25  # seconds between two looks at what others compute: at first, and after a while


@dataclass
class Part:
    """The part of the cells with which a worker begins: number `index` of `count`. Then it helps the others."""

    index: int = 0
    count: int = 1


@dataclass
class SharedRunner(Runner):
    """Runs cells together with others. `present` are the cells that were there before the run; `watch` is called
    between cells and while waiting."""

    store: Store = field(kw_only=True)
    worker: Worker = field(kw_only=True)
    part: Part = field(default_factory=Part)
    present: frozenset[str] = frozenset()
    watch: Callable[[], None] = lambda: None
    steps: int = 0

    def run(self, title: str, cells: Sequence[Cell]) -> list[Result]:
        once = {cell.key: cell for cell in cells}
        self._begin(title, list(once.values()))
        step = _Step(self, once)
        missing = [cell for cell in once.values() if not step.find(cell)]
        if missing:
            self.publish()
        with self.reporter.bar(title, len(missing), sum(cell.tokens for cell in missing)) as advance:
            step.finish(_units(missing, self.part), self.counted(advance))
        if step.failures:
            raise CellsFailed(title, list(step.failures.values()), len(once)) from step.cause
        return [step.results[cell.key] for cell in cells]

    def _begin(self, title: str, cells: Sequence[Cell]) -> None:
        self.worker.step = title
        listed = [[cell.key, cell.tokens] for cell in cells]
        self.store.begin(self.steps, {"stage": self.worker.stage, "title": title, "cells": listed})
        self.steps += 1

    def read(self, cell: Cell) -> Result | None:
        result = self._read(cell)
        if result is not None:
            (self.reused if cell.key in self.present and cell.key not in self.computed else self.computed).add(cell.key)
        return result

    def compute(self, cell: Cell) -> Result:
        with self.lock:
            self.worker.begin(cell.key)
        done = False
        try:
            result = cell.result()
            done = True
        finally:
            with self.lock:
                self.worker.end(cell.key, cell.tokens if done else None)
        return result

    def keep(self, cell: Cell, result: Result) -> Result:
        """Write a result, unless somebody else has written one meanwhile: then theirs counts for everybody."""
        self.computed.add(cell.key)
        earlier = self._read(cell)
        if earlier is not None:
            return earlier
        self._save(cell.key, encode(cell, result))
        return result

    def _load(self, key: str) -> bytes | None:
        return self.store.read(key)

    def _save(self, key: str, content: bytes) -> None:
        self.store.write(key, content)


class _Step:
    """The cells of one step: results so far, and what failed."""

    def __init__(self, runner: SharedRunner, cells: dict[str, Cell]):
        self.runner, self.cells = runner, cells
        self.results: dict[str, Result] = {}
        self.failures: dict[str, str] = {}
        self.cause: Exception | None = None

    def find(self, cell: Cell) -> bool:
        """Whether a cell is done, or has failed, here or elsewhere."""
        if cell.key in self.results or cell.key in self.failures:
            return True
        if (result := self.runner.read(cell)) is not None:
            self.results[cell.key] = result
        elif (why := self.runner.store.failure(cell.key)) is not None:
            self.failures[cell.key] = why
        else:
            return False
        return True

    def finish(self, units: list[list[Cell]], advance: Advance) -> None:
        """Until every cell is done or has failed: compute what nobody has, wait for the rest."""
        pause, every = QUICK, len(in_groups(self.cells.values()))
        while units:
            left: list[list[Cell]] = []

            def settle(unit: list[Cell], left: list[list[Cell]] = left) -> None:
                if not self._settle(unit, advance):
                    left.append(unit)

            self.runner.crew.share(units, settle, every, self.runner.watch)
            if len(left) == len(units):
                time.sleep(pause)
                pause = min(2 * pause, SLOW)
            else:
                pause = QUICK
            units = left

    def _settle(self, unit: list[Cell], advance: Advance) -> bool:
        """Whether the cells of a unit are done or have failed, after computing them if nobody else does."""
        store, worker = self.runner.store, self.runner.worker
        if all(self._arrived(cell, advance) for cell in unit):
            return True
        claim = unit[0].group or unit[0].key
        if not store.take(claim, worker.name):
            return False
        try:
            missing = [cell for cell in unit if not self._arrived(cell, advance)]
            course = CellsCourse(advance, sum(cell.tokens for cell in missing))
            for cell in missing:
                if not self._arrived(cell, course):
                    self._compute(cell, course)
        finally:
            store.release(claim)
        return True

    def _arrived(self, cell: Cell, advance: Advance) -> bool:
        """Whether a cell is there, and if it has just come, say so."""
        if cell.key in self.results or cell.key in self.failures:
            return True
        arrived = self.find(cell)
        if arrived:
            advance(cell.tokens)
        return arrived

    def _compute(self, cell: Cell, course: CellsCourse) -> None:
        try:
            with course.followed():
                result = self.runner.compute(cell)
        except Exception as error:
            self.failures[cell.key] = cell.failure(error)
            self.cause = self.cause or error
            self.runner.store.fail(cell.key, self.runner.worker.name, self.failures[cell.key])
        else:
            self.results[cell.key] = self.runner.keep(cell, result)
        course(cell.tokens)


def _units(cells: Sequence[Cell], part: Part) -> list[list[Cell]]:
    """What is taken at once, the largest first; a worker's own part before the others."""
    ordered = largest_first(cells)
    parts = [ordered[(part.index + step) % part.count :: part.count] for step in range(part.count)]
    return [unit for own in parts for unit in own]
