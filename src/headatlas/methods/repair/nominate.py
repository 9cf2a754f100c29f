"""Which heads could take over from which? Those that the margin leans on more once a strong head is gone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch

from headatlas.atlas.records import Head
from headatlas.model.memory import Load, within_memory
from headatlas.run.batches import BATCH_TOKENS
from headatlas.run.cells import CellKind
from headatlas.run.quantity import plan_quantity

if TYPE_CHECKING:
    from headatlas.methods.repair.repair import Repair
    from headatlas.run.batches import Batch
    from headatlas.run.cells import Cell, Result
    from headatlas.run.context import RunContext
    from headatlas.run.quantity import TaskQuantity
    from headatlas.stats import Array

GRADIENT = CellKind("gradient without a head", 2)
TITLE = "Candidates for self-repair"
STRONG = 0.25  # of the strongest head: from there on a head is worth removing


@dataclass(frozen=True)
class Pairs:
    """The strong heads of a task, and the candidates with the strong head that each might take over from."""

    leaders: tuple[Head, ...]
    candidates: dict[Head, Head]


def nominate_pairs(repair: Repair, context: RunContext, task: str) -> Pairs:
    """Nominated on `fit`, by gradients: cheap, and nothing is claimed from them."""
    quantity = nominating(repair, context, task)
    intact = _gradients(quantity, None)
    strongest = np.argsort(-intact, kind="stable")[: repair.leaders]
    leaders = [i for i in strongest if intact[i] > 0 and intact[i] >= STRONG * intact[strongest[0]]]
    if not leaders:
        return Pairs((), {})
    heads = context.heads
    growth = np.stack([_gradients(quantity, heads[i]) - intact for i in leaders])  # [leader, head]
    growth[range(len(leaders)), leaders] = -np.inf
    best = growth.argmax(0)
    order = [i for i in np.argsort(-growth.max(0), kind="stable") if np.isfinite(growth[best[i], i])]
    chosen = sorted(order[: repair.candidates])
    return Pairs(tuple(heads[i] for i in leaders), {heads[i]: heads[leaders[best[i]]] for i in chosen})


def nominating(repair: Repair, context: RunContext, task: str) -> TaskQuantity:
    """What heads are nominated from."""
    return some(plan_quantity(context, task, ("fit",), repair.metric, repair.baseline), repair.nominate)


def some(quantity: TaskQuantity, most: int) -> TaskQuantity:
    """At most so many of the examples, spread over all of them."""
    spread = np.linspace(0, len(quantity.items) - 1, min(most, len(quantity.items)))
    return quantity.only(np.unique(spread.astype(int)).tolist())


def _gradients(quantity: TaskQuantity, gone: Head | None) -> Array:
    """What the task would lose without each head, to first order, with one head already gone [layer * head]."""
    results = quantity.context.runner.run(TITLE, gradient_cells(quantity, gone))
    return np.sum([result["sum"] for result in results], 0) / len(quantity.items)


def gradient_cells(quantity: TaskQuantity, gone: Head | None) -> list[Cell]:
    """One cell per batch, with one head gone."""
    context = quantity.context

    def compute(batch: Batch) -> Result:
        model = context.model
        gates = torch.ones(batch.size, *model.shape)
        if gone is not None:
            gates[:, *gone] = 0
        gates.requires_grad_()
        load = Load(batch.ids.numel(), places=len(batch.reading(model).whole), backward=True)
        with (
            torch.enable_grad(),
            model.gate(gates, quantity.replacement(batch).values),
            within_memory(model, load),
        ):
            (gradient,) = torch.autograd.grad(batch.measured(model).sum(), gates)
        return {"sum": gradient.double().sum(0).flatten().cpu().numpy()}

    return [
        context.cell(
            GRADIENT, partial(compute, batch), 3 * batch.ids.numel(), forwards=1 + quantity.replacement_forwards,
            batch=batch.key, gone=gone, **quantity.inputs(batch),
        )
        for batch in quantity.batches(BATCH_TOKENS)
    ]  # fmt: skip
