"""Fits as cells, and finished masks scored on held-out examples."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from headatlas.methods.gate.descent import Objective, descend
from headatlas.methods.gate.likelihood import Portion, nll, whole_portions
from headatlas.methods.gate.settings import NUMERIC, FitSettings
from headatlas.model.memory import Load
from headatlas.run.batches import BATCH_TOKENS
from headatlas.run.cells import Cell, CellKind, Result
from headatlas.run.context import RunContext
from headatlas.run.quantity import TaskQuantity
from headatlas.stats import Array

GATED = CellKind("gated likelihood", 3)


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
        return self.result["gates"]


@dataclass(frozen=True)
class Problem:
    """What fits have in common: an objective, its name in messages, and the batches it is made of.

    `data` holds the portions of a step in one or more lists, `held` those of a look at held-out examples.
    """

    kind: CellKind
    label: str
    objective: Objective
    data: Sequence[Sequence[Portion]]
    held: Sequence[Portion]
    more: Mapping[str, object]

    def together(self, fits: int) -> int:
        """How many of so many fits share a batch: about as many as BATCH_TOKENS asks for, and in all batches alike."""
        most = max(1, round(BATCH_TOKENS / self.step_tokens))
        return -(-fits // -(-fits // most)) if fits else 1

    def loads(self, fits: int) -> list[Load]:
        """Of steps and of looks, with so many fits."""
        fits = self.together(fits)
        steps = [replace(portion.load(fits), backward=True) for portions in self.data for portion in portions]
        return [*steps, *(portion.load(fits) for portion in self.held)]

    @property
    def step_tokens(self) -> int:
        return sum(max(portion.tokens for portion in portions) for portions in self.data)

    def cells(
        self, context: RunContext, wanted: Sequence[FitKey], start: Callable[[FitKey], Tensor], settings: FitSettings
    ) -> dict[FitKey, Cell]:
        """A cell for each fit. As many as keep the matrix units busy share a batch: they are computed together, once,
        and written one by one."""
        cells: dict[FitKey, Cell] = {}
        size = self.together(len(wanted))
        for first in range(0, len(wanted), size):
            cells |= self._together(context, wanted[first : first + size], start, settings)
        return cells

    def _together(
        self, context: RunContext, group: Sequence[FitKey], start: Callable[[FitKey], Tensor], settings: FitSettings
    ) -> dict[FitKey, Cell]:
        starts = torch.stack([start(fit) for fit in group])

        @cache
        def fitted() -> list[Result]:
            names = [f"{self.label}, seed {fit.seed}, stage {fit.stage}" for fit in group]
            penalties, seeds = [fit.penalty for fit in group], [fit.seed for fit in group]
            fits = descend(self.objective, starts, penalties, settings, names, seeds)
            return [fit.result() for fit in fits]

        def computed(number: int) -> Callable[[], Result]:
            return lambda: fitted()[number]

        inputs = {
            "data": [[portion.inputs for portion in portions] for portions in self.data],
            "held": [portion.inputs for portion in self.held],
            "settings": {key: value for key, value in asdict(settings).items() if key in NUMERIC},
            # Rounding depends on what shares a batch, so that is part of what a result depends on.
            "together": [list(fit) for fit in group],
            "starts": hashlib.sha256(starts.numpy().tobytes()).hexdigest()[:16],
            **self.more,
        }
        # A step costs a forward and a backward, a look a forward. Most fits end before their last step.
        look = sum(portion.tokens for portion in self.held) / settings.check
        tokens = round(settings.steps * (2 * self.step_tokens + look))
        looks = -(-settings.steps // settings.check) * sum(portion.forwards for portion in self.held)
        forwards = settings.steps * sum(portions[0].forwards for portions in self.data) + looks
        cells = {
            # The fits of a group share their forwards, so only the first one counts them.
            fit: context.cell(
                self.kind, computed(number), tokens, forwards=0 if number else forwards, fit=list(fit), **inputs
            )
            for number, fit in enumerate(group)
        }
        first = next(iter(cells.values())).key
        return {fit: replace(cell, group=first) for fit, cell in cells.items()}


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


def held_out_nll(quantity: TaskQuantity, masks: Sequence[Masks], title: str) -> list[Array]:
    """For every entry, the negative log-likelihood [mask, example] of what is measured, one number per item."""
    cells = held_out_cells(quantity, masks)
    once = {cell.key: cell for cell in cells}
    results = dict(zip(once, quantity.context.runner.run(title, list(once.values())), strict=True))
    return [results[cell.key]["nll"] for cell in cells]


def held_out_cells(quantity: TaskQuantity, masks: Sequence[Masks]) -> list[Cell]:
    """The cells of `held_out_nll`, one per entry."""
    context, data = quantity.context, whole_portions(quantity)
    inputs, tokens = [portion.inputs for portion in data], sum(portion.tokens for portion in data)
    members = [member for portion in data for member in portion.batch.members]

    def cell(mask: Masks) -> Cell:
        @torch.inference_mode()
        def compute() -> Result:
            scores = torch.cat([nll(portion, mask.gates) for portion in data], 1)
            return {"nll": scores[:, np.argsort(members)].contiguous().numpy()}

        cost, forwards = len(mask.gates) * tokens, sum(portion.forwards for portion in data)
        return context.cell(GATED, compute, cost, forwards=forwards, data=inputs, gates=mask.source)

    return [cell(mask) for mask in masks]
