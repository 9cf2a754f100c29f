"""Fits as cells, and finished masks scored on held-out examples."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from headatlas.methods.gate.descent import Objective, descend
from headatlas.methods.gate.likelihood import nll, token_counts
from headatlas.methods.gate.settings import NUMERIC, FitSettings
from headatlas.model.heads import Baseline
from headatlas.run.batches import BATCH_TOKENS, Batch
from headatlas.run.cells import Cell, CellKind, Result
from headatlas.run.context import RunContext
from headatlas.stats import Array

GATED = CellKind("gated likelihood", 2)


class FitKey(NamedTuple):
    """One fit: its start, the name of its stage, and its lambda."""

    seed: int
    stage: str
    penalty: float


@dataclass(frozen=True)
class Fitted:
    """A finished fit: the key of its cell and its arrays."""

    key: str
    result: Result

    @property
    def logits(self) -> Tensor:
        """[layer, head]."""
        return torch.from_numpy(np.array(self.result["logits"]))

    @property
    def gates(self) -> Array:
        """[layer, head], from 0 to 1."""
        return torch.sigmoid(self.logits).numpy()


@dataclass(frozen=True)
class Problem:
    """What fits have in common: an objective, its name in messages, and the batches it is made of.

    `data` holds the batches of a step in one or more lists, `held` those of a look at held-out examples.
    """

    kind: CellKind
    label: str
    objective: Objective
    data: Sequence[Sequence[Batch]]
    held: Sequence[Batch]
    more: Mapping[str, object]

    @property
    def together(self) -> int:
        """How many fits share a batch."""
        return max(1, BATCH_TOKENS // self.step_tokens)

    @property
    def step_tokens(self) -> int:
        return sum(max(batch.ids.numel() for batch in batches) for batches in self.data)

    def cells(
        self, context: RunContext, wanted: Sequence[FitKey], start: Callable[[FitKey], Tensor], settings: FitSettings
    ) -> dict[FitKey, Cell]:
        """A cell for each fit. As many as keep the matrix units busy share a batch: they are computed together, once,
        and written one by one."""
        cells: dict[FitKey, Cell] = {}
        for first in range(0, len(wanted), self.together):
            cells |= self._together(context, wanted[first : first + self.together], start, settings)
        return cells

    def _together(
        self, context: RunContext, group: Sequence[FitKey], start: Callable[[FitKey], Tensor], settings: FitSettings
    ) -> dict[FitKey, Cell]:
        starts = torch.stack([start(fit) for fit in group])

        @cache
        def fitted() -> list[Result]:
            names = [f"{self.label}, seed {fit.seed}, stage {fit.stage}" for fit in group]
            fits = descend(self.objective, starts, [fit.penalty for fit in group], settings, names)
            return [fit.result() for fit in fits]

        def computed(number: int) -> Callable[[], Result]:
            return lambda: fitted()[number]

        inputs = {
            "data": [[batch.key for batch in batches] for batches in self.data],
            "held": [batch.key for batch in self.held],
            "settings": {key: value for key, value in asdict(settings).items() if key in NUMERIC},
            # Rounding depends on what shares a batch, so that is part of what a result depends on.
            "together": [list(fit) for fit in group],
            "starts": hashlib.sha256(starts.numpy().tobytes()).hexdigest()[:16],
            **self.more,
        }
        # A step costs a forward and a backward, a look a forward. Most fits end before their last step.
        look = sum(batch.ids.numel() for batch in self.held) / settings.check
        tokens = round(settings.steps * (2 * self.step_tokens + look))
        forwards = settings.steps * len(self.data) + -(-settings.steps // settings.check) * len(self.held)
        return {
            # The fits of a group share their forwards, so only the first one counts them.
            fit: context.cell(
                self.kind, computed(number), tokens, forwards=0 if number else forwards, fit=list(fit), **inputs
            )
            for number, fit in enumerate(group)
        }


def run_fits(
    context: RunContext, title: str, cells: Mapping[str, Mapping[FitKey, Cell]]
) -> dict[str, dict[FitKey, Fitted]]:
    """Run the fits of every task under one bar."""
    flat = [cell for task_cells in cells.values() for cell in task_cells.values()]
    results = iter(context.runner.run(title, flat))
    return {
        task: {fit: Fitted(cell.key, next(results)) for fit, cell in task_cells.items()}
        for task, task_cells in cells.items()
    }


@dataclass(frozen=True)
class Masks:
    """Gates [mask, layer, head] and what they come from, which is all that their score depends on besides the data."""

    gates: Tensor
    source: object


def held_out_nll(
    context: RunContext,
    task: str,
    masks: Sequence[Masks],
    title: str,
    baseline: Callable[[Batch], Baseline | None] = lambda _: None,
) -> list[Array]:
    """For every entry, the negative log-likelihood of the answers on `evaluate` [mask, example], summed over tokens.

    `baseline` gives what a closed gate lets in instead of a head.
    """
    cells = held_out_cells(context, task, masks, baseline)
    once = {cell.key: cell for cell in cells}
    results = dict(zip(once, context.runner.run(title, list(once.values())), strict=True))
    return [context.per_example(task, "evaluate", [results[cell.key]["nll"]]).T for cell in cells]


def held_out_cells(
    context: RunContext,
    task: str,
    masks: Sequence[Masks],
    baseline: Callable[[Batch], Baseline | None] = lambda _: None,
) -> list[Cell]:
    """The cells of `held_out_nll`, one per entry."""
    batches = context.batches(task, "evaluate")
    keys, tokens = [batch.key for batch in batches], sum(batch.ids.numel() for batch in batches)

    def cell(mask: Masks) -> Cell:
        @torch.inference_mode()
        def compute() -> Result:
            scores = [nll(context.model, batch, mask.gates, baseline(batch)) for batch in batches]
            return {"nll": torch.cat(scores, 1).T.contiguous().numpy()}

        cost = len(mask.gates) * tokens
        return context.cell(GATED, compute, cost, forwards=len(batches), batches=keys, gates=mask.source)

    return [cell(mask) for mask in masks]


def held_out_tokens(context: RunContext, task: str) -> Array:
    """The number of answer tokens of every `evaluate` example."""
    batches = context.batches(task, "evaluate")
    return context.per_example(task, "evaluate", [token_counts(batch).numpy() for batch in batches])
