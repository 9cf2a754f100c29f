"""What a method is given (a model, its tasks, a way to run cells) and what it gives back (maps)."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from headatlas.model.heads import HeadModel
from headatlas.run.cells import Cell, Runner
from headatlas.run.scoring import Batch, Encoder, make_batches
from headatlas.stats import Array, Summary, summarise
from headatlas.suites.example import Example
from headatlas.suites.suite import Suite

Head = tuple[int, int]


@dataclass(frozen=True)
class HeadMap:
    """One value for every measured (layer, head) of one task, with its error and p-value."""

    method: str
    measure: str
    task: str
    seed: int
    heads: tuple[Head, ...]
    summary: Summary


@dataclass(frozen=True)
class Diagnostic:
    """One number that a method reports beside its maps, or one place of a curve; see `atlas.DIAGNOSTICS`."""

    method: str
    metric: str
    value: float
    task: str | None = None
    seed: int = 0
    place: int | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Measured:
    """What a method gives back."""

    maps: list[HeadMap]
    diagnostics: list[Diagnostic] = field(default_factory=list)


class Work:
    """The model, the split suite and the runner. Examples are tokenised and batched once, for all methods."""

    def __init__(self, model: HeadModel, splits: Mapping[str, Suite], runner: Runner, encoder: Encoder):
        self.model, self.splits, self.runner, self.encoder = model, splits, runner, encoder
        self.fingerprint = model.fingerprint()
        self.tasks = splits["fit"].tasks
        self._batches: dict[tuple[str, str], list[Batch]] = {}

    def restricted(self, splits: Mapping[str, Suite]) -> Work:
        """The same work on fewer examples."""
        other = copy.copy(self)
        other.splits, other.tasks, other._batches = splits, splits["fit"].tasks, {}
        return other

    @property
    def heads(self) -> tuple[Head, ...]:
        return tuple((layer, head) for layer in range(self.model.n_layers) for head in range(self.model.n_heads))

    def examples(self, task: str, split: str) -> tuple[Example, ...]:
        return self.splits[split].of(task)

    def groups(self, task: str, split: str) -> list[str]:
        return [example.group for example in self.examples(task, split)]

    def batches(self, task: str, split: str) -> list[Batch]:
        """The prompts of a task with their answers, one row an example; members index `examples(task, split)`."""
        if (task, split) not in self._batches:
            encoded = [self.encoder.encode(example)[:1] for example in self.examples(task, split)]
            self._batches[task, split] = make_batches(encoded)
        return self._batches[task, split]

    def inputs(self, what: str, **more: Any) -> dict[str, Any]:
        """The inputs of a cell: what it is, on which model, and whatever else its numbers depend on."""
        model = self.model
        place = {"model": self.fingerprint, "dtype": str(model.dtype), "device": model.device.type}
        return {"what": what, **place, **more}

    def per_example(self, task: str, split: str, results: Sequence[Array]) -> Array:
        """The rows of one result per batch, put back in the order of `examples(task, split)`."""
        members = [member for batch in self.batches(task, split) for member in batch.members]
        joined = np.concatenate(results)
        ordered = np.empty_like(joined)
        ordered[members] = joined
        return ordered

    def run_by_batch(self, title: str, split: str, cells: Mapping[str, Sequence[Cell]], name: str) -> dict[str, Array]:
        """Run the cells of every task (one a batch); the named array of each task, one row an example."""
        flat = self.runner.run(title, [cell for own in cells.values() for cell in own])
        results = iter(flat)
        return {task: self.per_example(task, split, [next(results)[name] for _ in own]) for task, own in cells.items()}


class Method(Protocol):
    """A method is a frozen dataclass of its settings with one verb."""

    name: ClassVar[str]
    least_tasks: ClassVar[int]  # that it can map

    def measure(self, work: Work) -> Measured: ...


def to_map(method: str, task: str, seed: int, heads: Sequence[Head], effects: Array, groups: Sequence[str]) -> HeadMap:
    """The map of per-example effects [example, head]."""
    return HeadMap(method, "importance", task, seed, tuple(heads), summarise(effects, groups))
