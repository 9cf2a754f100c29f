"""The context of a run: the model, the split suite, and a way to run cells; every measurement is given one."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
import transformers

from headatlas.atlas.records import Head
from headatlas.model.heads import HeadModel
from headatlas.model.sharing import turns_by_length
from headatlas.run.batches import Batch, make_batches
from headatlas.run.cells import Cell, CellKind, Result, Runner
from headatlas.run.encoding import Encoder
from headatlas.stats import Array
from headatlas.suites.example import Example
from headatlas.suites.suite import Suite
from headatlas.wording import some_of


class RunContext:
    """The model, the split suite and the runner. Examples are tokenised and batched once, for all methods and tests.

    `process` are the bytes that this process held before it loaded the model, where that is known.
    """

    def __init__(
        self,
        model: HeadModel,
        splits: Mapping[str, Suite],
        runner: Runner,
        encoder: Encoder,
        process: int | None = None,
    ):
        self.model, self.splits, self.runner, self.encoder, self.process = model, splits, runner, encoder, process
        self.model_fingerprint = model.fingerprint()
        self.tasks = splits["fit"].tasks
        self._batches: dict[tuple[str, str, bool, bool], list[Batch]] = {}
        self._fed: dict[str, tuple[str, list[str]]] = {}  # by the key of a batch: its task and the ids of its examples

    def with_splits(self, splits: Mapping[str, Suite]) -> RunContext:
        """The same context on other examples."""
        other = copy.copy(self)
        other.splits, other.tasks, other._batches = splits, splits["fit"].tasks, {}
        return other

    def with_runner(self, runner: Runner) -> RunContext:
        """The same context, whose cells go to another runner."""
        other = copy.copy(self)
        other.runner = runner
        return other

    @property
    def heads(self) -> tuple[Head, ...]:
        """All heads of the model, in order of layer and head."""
        return tuple((layer, head) for layer in range(self.model.n_layers) for head in range(self.model.n_heads))

    def examples(self, task: str, split: str) -> tuple[Example, ...]:
        return self.splits[split].of(task)

    def groups(self, task: str, split: str) -> list[str]:
        return [example.group for example in self.examples(task, split)]

    def batches(self, task: str, split: str, with_distractors: bool = False, closed: bool = False) -> list[Batch]:
        """The prompts of a task with their answers, one row per example, or with all their options; members index
        `examples(task, split)`. `closed` where it matters what greedy decoding writes."""
        key = (task, split, with_distractors, closed)
        if key not in self._batches:
            scored = slice(None) if with_distractors else slice(1)
            encoded = [self.encoder.encode(example)[scored] for example in self.examples(task, split)]
            self._batches[key] = make_batches(encoded, closed=closed)
            for batch in self._batches[key]:
                self.note_examples(batch, task, [self.examples(task, split)[member].id for member in batch.members])
        return self._batches[key]

    def intact_batches(self, task: str, split: str) -> list[Batch]:
        """With all options, and closed: those in which competence runs the intact model, for all that is read there."""
        return self.batches(task, split, with_distractors=True, closed=True)

    @cached_property
    def environment(self) -> dict[str, str]:
        """What the numbers of a forward depend on besides its inputs."""
        model = self.model
        # Such models share no beginnings of texts; numbers of one that did were wrong.
        positions = {"positions": "by length"} if turns_by_length(model) else {}
        return {
            "model": self.model_fingerprint,
            "dtype": str(model.dtype),
            "device": model.device.type,
            "kernel": str(model.kernel),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            **positions,
        }

    def cell(
        self, kind: CellKind, compute: Callable[[], Result], cost: float, /, *, forwards: int = 1, **inputs: Any
    ) -> Cell:
        """A cell that runs about `cost` tokens in so many forwards; its key holds the environment and all `inputs`."""
        whole = {"environment": self.environment, **inputs}
        return Cell(kind, whole, compute, round(cost), forwards, lambda: self._examples_in(inputs))

    def note_examples(self, batch: Batch, task: str, ids: list[str]) -> None:
        """Whose examples a batch holds, so that a cell that fails can be named by them."""
        self._fed[batch.key] = task, ids

    def _examples_in(self, inputs: Any) -> str:
        """The tasks and examples of the batches that the inputs of a cell name."""
        examples: dict[str, dict[str, None]] = {}
        for text in _texts(inputs):
            task, ids = self._fed.get(text, ("", []))
            examples.setdefault(task, {}).update(dict.fromkeys(ids))
        listed = [f"{task} ({some_of([*ids])})" for task, ids in examples.items() if ids]
        return ", ".join(listed)

    def per_example(self, task: str, split: str, results: Sequence[Array], intact: bool = False) -> Array:
        """The rows of one result per batch (with `intact`, of `intact_batches`), put back in the order of
        `examples(task, split)`."""
        batches = self.intact_batches(task, split) if intact else self.batches(task, split)
        members = [member for batch in batches for member in batch.members]
        joined = np.concatenate(results)
        ordered = np.empty_like(joined)
        ordered[members] = joined
        return ordered

    def run_by_batch(
        self, title: str, split: str, cells: Mapping[str, Sequence[Cell]], name: str, intact: bool = False
    ) -> dict[str, Array]:
        """Run the cells of every task, one per batch or with `intact` one of `intact_batches`; the named array of each
        task, one row per example."""
        results = iter(self.runner.run(title, [cell for task_cells in cells.values() for cell in task_cells]))
        return {
            task: self.per_example(task, split, [next(results)[name] for _ in task_cells], intact)
            for task, task_cells in cells.items()
        }

    def say(self, remark: str) -> None:
        """A remark to the user."""
        self.runner.reporter.say(remark)


def _texts(inputs: Any) -> Iterator[str]:
    """All strings in what JSON can hold."""
    if isinstance(inputs, str):
        yield inputs
    elif isinstance(inputs, Mapping):
        for value in inputs.values():
            yield from _texts(value)
    elif isinstance(inputs, list | tuple):
        for value in inputs:
            yield from _texts(value)
