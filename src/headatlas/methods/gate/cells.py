"""Fits as cells, and finished masks scored on held-out examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from headatlas.methods.gate.descent import Descent, Objective, descend
from headatlas.methods.gate.likelihood import nll, token_counts
from headatlas.model.heads import Baseline
from headatlas.run.cells import Cell, Result
from headatlas.run.context import Work
from headatlas.run.scoring import BATCH_TOKENS, Batch
from headatlas.stats import Array

# The settings that the numbers of a fit depend on; the number of seeds and the place of activations are not among them.
SETTINGS = tuple(name for name in Descent.__dataclass_fields__ if name not in ("seeds", "checkpoint"))


class Wanted(NamedTuple):
    """One fit: its start, the name of its stage, and its lambda."""

    seed: int
    stage: str
    strength: float


@dataclass(frozen=True)
class Kept:
    """A finished fit: the key of its cell and its arrays."""

    key: str
    result: Result


@dataclass(frozen=True)
class Problem:
    """What fits have in common: an objective, its name in messages, and the batches it is made of.

    `data` holds the batches of a step in one or more lists, `held` those of a look.
    """

    what: str
    label: str
    objective: Objective
    data: Sequence[Sequence[Batch]]
    held: Sequence[Batch]
    more: Mapping[str, object]

    @property
    def step_tokens(self) -> int:
        return sum(max(batch.ids.numel() for batch in own) for own in self.data)

    def cells(
        self, work: Work, wanted: Sequence[Wanted], start: Callable[[Wanted], Tensor], settings: Descent
    ) -> dict[Wanted, Cell]:
        """A cell for each fit. As many as keep the matrix units busy share a batch: they are computed together, once,
        and written one by one."""
        room = max(1, BATCH_TOKENS // self.step_tokens)
        cells: dict[Wanted, Cell] = {}
        for first in range(0, len(wanted), room):
            cells |= self._together(work, wanted[first : first + room], start, settings)
        return cells

    def _together(
        self, work: Work, group: Sequence[Wanted], start: Callable[[Wanted], Tensor], settings: Descent
    ) -> dict[Wanted, Cell]:
        @cache
        def fitted() -> list[Result]:
            names = [f"{self.label}, seed {fit.seed}, stage {fit.stage}" for fit in group]
            starts = torch.stack([start(fit) for fit in group])
            fits = descend(self.objective, starts, [fit.strength for fit in group], settings, names)
            return [fit.result() for fit in fits]

        def computed(place: int) -> Callable[[], Result]:
            return lambda: fitted()[place]

        # Rounding depends on what shares a batch, so that is part of what a result depends on.
        inputs = work.inputs(
            self.what,
            data=[[batch.key for batch in own] for own in self.data],
            held=[batch.key for batch in self.held],
            settings={key: value for key, value in asdict(settings).items() if key in SETTINGS},
            together=[list(fit) for fit in group],
            **self.more,
        )
        # A step costs a forward and a backward, a look a forward. Most fits end before their last step.
        look = sum(batch.ids.numel() for batch in self.held) / settings.check
        tokens = round(settings.steps * (2 * self.step_tokens + look))
        return {fit: Cell(inputs | {"fit": list(fit)}, computed(place), tokens) for place, fit in enumerate(group)}


def run_cells(work: Work, title: str, cells: Mapping[str, Mapping[Wanted, Cell]]) -> dict[str, dict[Wanted, Kept]]:
    """Run the fits of every task under one bar."""
    results = iter(work.runner.run(title, [cell for own in cells.values() for cell in own.values()]))
    return {task: {fit: Kept(cell.key, next(results)) for fit, cell in own.items()} for task, own in cells.items()}


@dataclass(frozen=True)
class Masks:
    """Gates [mask, layer, head] and what they come from, which is all that their score depends on besides the data."""

    gates: Tensor
    source: object


def held_out_nll(
    work: Work,
    task: str,
    masks: Sequence[Masks],
    title: str,
    baseline: Callable[[Batch], Baseline | None] = lambda _: None,
) -> list[Array]:
    """For every entry, the negative log-likelihood of the answers on `evaluate` [mask, example], summed over tokens.

    `baseline` gives what a closed gate puts in the place of a head, and allows one mask in an entry where it differs by
    row.
    """
    batches = work.batches(task, "evaluate")
    keys, tokens = [batch.key for batch in batches], sum(batch.ids.numel() for batch in batches)

    def cell(own: Masks) -> Cell:
        @torch.inference_mode()
        def compute() -> Result:
            scores = [nll(work.model, batch, own.gates, baseline(batch)) for batch in batches]
            return {"nll": torch.cat(scores, 1).T.contiguous().numpy()}

        return Cell(work.inputs("gated", batches=keys, gates=own.source), compute, len(own.gates) * tokens)

    cells = [cell(own) for own in masks]
    once = {cell.key: cell for cell in cells}
    results = dict(zip(once, work.runner.run(title, list(once.values())), strict=True))
    return [work.per_example(task, "evaluate", [results[cell.key]["nll"]]).T for cell in cells]


def held_out_tokens(work: Work, task: str) -> Array:
    """The number of answer tokens of every `evaluate` example."""
    batches = work.batches(task, "evaluate")
    return work.per_example(task, "evaluate", [token_counts(batch).numpy() for batch in batches])
