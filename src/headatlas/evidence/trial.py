"""A map on trial: the model, held-out examples, the heads the map chose, and ways to intervene on them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headatlas.errors import HeadAtlasError
from headatlas.evidence.base import SPLIT, TestSettings
from headatlas.evidence.choice import Heads, Ranking, different_draws
from headatlas.run.baselines import Baselines
from headatlas.run.batches import BATCH_TOKENS, Batch, make_batches
from headatlas.run.cells import Cell, CellKind, Result
from headatlas.run.context import RunContext
from headatlas.run.encoding import Option
from headatlas.run.intact import intact_cell
from headatlas.run.interventions import gates_scaling, gates_without
from headatlas.run.outcomes import Outcome, outcome_of
from headatlas.run.packing import pack
from headatlas.run.sets import score_pushes, score_sets, starts_of, work_of_pushes, work_of_sets
from headatlas.run.work import OVERHEAD
from headatlas.stats import Array
from headatlas.suites.example import Example

REMOVAL, SCALING, PUSHING = CellKind("removal", 3), CellKind("scaling", 3), CellKind("pushing", 2)
PUSHED_TOKENS = 128  # padded tokens of a batch after its prompts


class Trial:
    """Everything a test is given.

    `context` holds the mapped tasks and the neutral one, `chains` the steps of held-out chains, `maps` every measure of
    the method as {task: {measure: [layer, head]}}. `low_level` and `high_level` are the tasks that the suite calls so.
    The foil of the `twinned` tasks is the answer of an example's twin, as in their maps. `units` are what all single
    heads of a task take from its margin together, in nats, where its map says so.
    """

    def __init__(
        self,
        context: RunContext,
        tasks: Sequence[str],
        rankings: Mapping[str, Ranking],
        settings: TestSettings,
        chains: Sequence[Example] = (),
        maps: Mapping[str, Mapping[str, Array]] | None = None,
        neutral: str | None = None,
        low_level: Sequence[str] = (),
        high_level: Sequence[str] = (),
        twinned: Collection[str] = (),
        units: Mapping[str, float] | None = None,
    ):
        self.context, self.tasks, self.rankings, self.settings = context, tuple(tasks), rankings, settings
        self.chains, self.maps, self.neutral = chains, maps or {}, neutral
        self.low_level, self.high_level = tuple(low_level), tuple(high_level)
        self.twinned, self.units = frozenset(twinned), units or {}
        self._foiled: dict[str, list[Batch]] = {}

    @cached_property
    def baselines(self) -> Baselines:
        return Baselines(self.settings.baseline, self.context, self.settings.seed)

    @cached_property
    def means(self) -> Baselines:
        """The mean of every head, for tests in which the model writes: other examples have nothing to lend there."""
        return self.baselines if self.settings.baseline == "mean" else Baselines("mean", self.context)

    @property
    def controls_on_neutral_text(self) -> str | None:
        """The neutral task, where it is there and was not itself mapped."""
        return self.neutral if self.neutral not in self.tasks else None

    def groups(self, task: str) -> list[str]:
        return self.context.groups(task, SPLIT)

    def batches(self, task: str, split: str = SPLIT) -> list[Batch]:
        """Examples with all their options, or with answers alone where that was asked for; held-out ones with foils."""
        if split != SPLIT or task not in self.twinned:
            return self.context.batches(task, split, with_distractors=self.settings.distractors, closed=True)
        if task not in self._foiled:
            self._foiled[task] = make_batches(self._scored(task, split), closed=True)
        return self._foiled[task]

    def _scored(self, task: str, split: str) -> list[list[Option]]:
        """The options of every example of a split; held-out ones with foils."""
        if split == SPLIT and task in self.twinned:
            return [self.options(example) for example in self.context.examples(task, split)]
        scored = slice(None) if self.settings.distractors else slice(1)
        return [self.context.encoder.encode(example)[scored] for example in self.context.examples(task, split)]

    @property
    def _shares(self) -> bool:
        """Whether rows that begin alike do the same there without a set of heads."""
        return self.context.model.sharing.prefix and self.settings.baseline != "resample"

    def foil(self, example: Example) -> str | None:
        """The answer of the twin where the task's map compared with it; distractors are the foil otherwise."""
        twin = example.counterfactual
        return None if twin is None or example.task not in self.twinned else twin.answer

    def options(self, example: Example) -> list[Option]:
        """What is scored of a held-out example: the answer, the distractors, and last the foil where it has one."""
        foil = self.foil(example)
        texts = (example.answer, *(example.distractors if self.settings.distractors else ()))
        texts += () if foil is None else (foil,)
        return self.context.encoder.encode_texts(example.id, example.prompt, texts)

    def outcome(self, task: str, split: str, scored: Iterable[tuple[Batch, Result]]) -> Outcome:
        """The outcome of the examples of a task, from the scores of its batches."""
        examples = self.context.examples(task, split) if split == SPLIT else ()
        return outcome_of(scored, {i for i, example in enumerate(examples) if self.foil(example) is not None})

    def top(self, task: str) -> Heads:
        """The heads of a task where a single number of them is needed."""
        return self.rankings[task].top(self.settings.k)

    def ks(self, task: str) -> list[int]:
        """The numbers of heads to test for a task: those set, and the elbow of its map where that is asked for."""
        ranking, settings = self.rankings[task], self.settings
        counts = {*settings.ks, ranking.elbow} if settings.elbow else set(settings.ks)
        return sorted(k for k in counts if k <= len(ranking.first))

    def draws(self, task: str, k: int, count: int) -> list[Heads]:
        """Up to `count` different random sets for the top k of a task, which may be among them."""
        rng = np.random.default_rng([self.settings.seed, self.tasks.index(task), k])
        return different_draws(self.rankings[task].top(k), self.context.model.shape, rng, count)

    def remove(self, title: str, wanted: Mapping[str, Sequence[Heads]]) -> dict[str, Outcome]:
        """Per measured task: the outcome without each set of heads; the empty set is the intact model."""
        distinct = {task: list(dict.fromkeys(sets)) for task, sets in wanted.items()}
        cells = {task: self.removal_cells(task, sets, self._scored(task, SPLIT)) for task, sets in distinct.items()}
        outcomes = self._outcomes(title, SPLIT, cells)
        return {task: outcomes[task][[distinct[task].index(heads) for heads in sets]] for task, sets in wanted.items()}

    def scale(self, title: str, wanted: Mapping[str, Sequence[tuple[Heads, float]]]) -> dict[str, Outcome]:
        """Per measured task: the outcome of the intact model, then with each set of heads times its factor."""
        model = self.context.model

        def cell(gates: Tensor, batch: Batch) -> Cell:
            tokens, forwards = work_of_sets(batch, starts_of(model, gates), model.sharing.prefix)
            return self.context.cell(
                SCALING,
                lambda: score_sets(model, batch, gates),
                tokens,
                forwards=forwards,
                batch=batch.key,
                gates=gates.tolist(),
            )

        cells = {}
        for task, scaled in wanted.items():
            gates = gates_scaling(model.shape, [(frozenset(), 1.0), *scaled])
            batches = pack(self._scored(task, SPLIT), starts_of(model, gates), model.sharing.prefix)
            cells[task] = [(batch, cell(gates, batch)) for batch in batches]
        return self._outcomes(title, SPLIT, cells)

    def push(
        self, title: str, wanted: Mapping[str, Sequence[NDArray[np.float32]]], split: str = SPLIT
    ) -> dict[str, Outcome]:
        """Per measured task: the outcome of the intact model, then with each [layer, head, head_dim] added to z where
        answers are predicted."""
        model = self.context.model

        def cell(stack: Tensor, batch: Batch) -> Cell:
            tokens, forwards = work_of_pushes(model, batch, len(stack))
            return self.context.cell(
                PUSHING,
                lambda: score_pushes(model, batch, stack),
                tokens,
                forwards=forwards,
                batch=batch.key,
                pushes=hashlib.sha256(stack.numpy().tobytes()).hexdigest()[:16],
            )

        cells = {}
        for task, pushes in wanted.items():
            stack = torch.from_numpy(np.stack([np.zeros_like(pushes[0]), *pushes]))
            cells[task] = [(batch, cell(stack, batch)) for batch in self._pushed_batches(task, split, len(stack))]
        return self._outcomes(title, split, cells)

    def _pushed_batches(self, task: str, split: str, pushes: int) -> list[Batch]:
        """Examples whose answers begin at about the same position together: only what follows is run for each push."""
        options = self._scored(task, split)
        if not self.context.model.sharing.prefix:
            return make_batches(options, BATCH_TOKENS, closed=True)
        prompts = [min(option.start for option in some) - 1 for some in options]
        return make_batches(options, PUSHED_TOKENS, prompts, OVERHEAD // pushes, closed=True)

    def intact(self, title: str, split: str, tasks: Sequence[str] | None = None) -> dict[str, Outcome]:
        """Per task, those of the map unless given: the outcome of the intact model on a split [example]."""
        cells = {
            task: [(batch, intact_cell(self.context, batch)) for batch in self.batches(task, split)]
            for task in (self.tasks if tasks is None else tasks)
        }
        return self._outcomes(title, split, cells)

    def removal_cells(
        self, task: str, sets: Sequence[Heads], options: Sequence[Sequence[Option]], closed: bool = True
    ) -> list[tuple[Batch, Cell]]:
        """Scores of options of a task without each set of heads, batch by batch."""
        model, gates = self.context.model, gates_without(self.context.model.shape, list(sets))
        heads, starts = [sorted(some) for some in sets], starts_of(model, gates)

        def cell(batch: Batch) -> Cell:
            tokens, forwards = work_of_sets(batch, starts, self._shares)
            return self.context.cell(
                REMOVAL,
                lambda: score_sets(model, batch, gates, self.baselines.for_batch(task, batch)),
                tokens,
                forwards=forwards,
                batch=batch.key,
                baseline=self.baselines.inputs(task),
                heads=heads,
            )

        return [(batch, cell(batch)) for batch in pack(options, starts, self._shares, closed)]

    def _outcomes(
        self, title: str, split: str, cells: Mapping[str, Sequence[tuple[Batch, Cell]]]
    ) -> dict[str, Outcome]:
        """Per measured task, the outcome of the cells of its batches."""
        for task, of_task in cells.items():
            ids = [example.id for example in self.context.examples(task, split)]
            for batch, _ in of_task:
                self.context.note_examples(batch, task, [ids[member] for member in batch.members])
        every = [cell for of_task in cells.values() for _, cell in of_task]
        results = iter(self.context.runner.run(title, every))
        return {
            task: self.outcome(task, split, [(batch, next(results)) for batch, _ in of_task])
            for task, of_task in cells.items()
        }

    def map_of(self, task: str, measure: str) -> Array:
        """One measure of the method's map of a task [layer, head]."""
        if measure not in self.maps.get(task, {}):
            raise HeadAtlasError(f"The method has no {measure!r} of {task!r}.")
        return self.maps[task][measure]
