"""Strong heads and candidates removed one by one, in pairs and all together; strong heads also with all others held."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch

from headatlas.atlas.records import Head
from headatlas.methods.repair.nominate import Pairs, some
from headatlas.run.batches import BATCH_TOKENS
from headatlas.run.cells import CellKind
from headatlas.run.interventions import FORWARD_TOKENS, Gates, gates_without, measure_intact, measure_under
from headatlas.run.quantity import plan_quantity
from headatlas.stats import Array

if TYPE_CHECKING:
    from headatlas.methods.repair.repair import Repair
    from headatlas.run.batches import Batch
    from headatlas.run.cells import Cell, Result
    from headatlas.run.context import RunContext
    from headatlas.run.quantity import TaskQuantity

EXACT = CellKind("effects of pairs of heads", 2)
TITLE = "Self-repair"


@dataclass(frozen=True)
class PairEffects:
    """What every example loses, in the order of `groups`: [example] for a head or a set of heads.

    `single` is by head, `pair` by candidate (with its leader), `direct` by leader; `together` is without all of them.
    """

    task: str
    heads_per_layer: int
    pairs: Pairs
    groups: list[str]
    single: dict[Head, Array]
    pair: dict[Head, Array]
    direct: dict[Head, Array]
    together: Array


def measure_pairs(repair: Repair, context: RunContext, task: str, pairs: Pairs) -> PairEffects:
    """Measured on `choose`, exactly."""
    quantity = measuring(repair, context, task)
    singles = list(dict.fromkeys((*pairs.leaders, *pairs.candidates)))
    removed, direct = _effects(quantity, pairs)
    n = len(singles)
    return PairEffects(
        task=task,
        heads_per_layer=context.model.n_heads,
        pairs=pairs,
        groups=quantity.groups,
        single=dict(zip(singles, removed.T[:n], strict=True)),
        pair=dict(zip(pairs.candidates, removed.T[n:-1], strict=True)),
        direct=dict(zip(pairs.leaders, direct.T, strict=True)),
        together=removed[:, -1],
    )


def measuring(repair: Repair, context: RunContext, task: str) -> TaskQuantity:
    """What pairs are measured on."""
    return some(plan_quantity(context, task, ("choose",), repair.metric, repair.baseline), repair.measured)


def _effects(quantity: TaskQuantity, pairs: Pairs) -> tuple[Array, Array]:
    """Effects of removing each set [example, set], and direct effects of the leaders [example, leader]."""
    batches = quantity.batches(BATCH_TOKENS)
    results = quantity.context.runner.run(TITLE, pair_cells(quantity, pairs))
    widths = (results[0]["removed"].shape[1], len(pairs.leaders))
    removed, direct = (np.empty((len(quantity.items), width)) for width in widths)
    for batch, result in zip(batches, results, strict=True):
        removed[list(batch.members)], direct[list(batch.members)] = result["removed"], result["direct"]
    return removed, direct


def pair_cells(quantity: TaskQuantity, pairs: Pairs) -> list[Cell]:
    """One cell per batch: each head alone, each candidate with its leader, all together, and leaders alone with all
    others held."""
    context, leaders = quantity.context, pairs.leaders
    singles = list(dict.fromkeys((*leaders, *pairs.candidates)))
    sets = [frozenset({head}) for head in singles]
    sets += [frozenset({head, leader}) for head, leader in pairs.candidates.items()]
    sets += [frozenset(singles)]
    listed = [sorted(map(list, heads)) for heads in sets]

    def compute(batch: Batch) -> Result:
        baseline = quantity.replacement(batch).values
        intact = measure_intact(context.model, batch)
        removed = intact - measure_under(
            context.model, batch, Gates(gates_without(context.model.shape, sets), baseline)
        )
        direct = [intact - _without_reaction(quantity, batch, leader) for leader in leaders]
        return {
            "removed": removed.T.numpy(),
            "direct": torch.stack(direct, 1).numpy() if direct else np.empty((len(intact), 0)),
        }

    def forwards(batch: Batch) -> int:
        under = -(-len(sets) // max(1, FORWARD_TOKENS // batch.ids.numel()))
        return 1 + under + 2 * len(leaders) + (1 + len(leaders)) * quantity.replacement_forwards

    return [
        context.cell(
            EXACT, partial(compute, batch), batch.ids.numel() * (1 + len(sets) + 2 * len(leaders)),
            forwards=forwards(batch), batch=batch.key, sets=listed, leaders=[list(leader) for leader in leaders],
            **quantity.inputs(batch),
        )
        for batch in quantity.batches(BATCH_TOKENS)
    ]  # fmt: skip


@torch.inference_mode()
def _without_reaction(quantity: TaskQuantity, batch: Batch, head: Head) -> torch.Tensor:
    """The quantity [example] with one head at its baseline and all others held at what they do in the intact model."""
    model = quantity.context.model
    with model.capture() as z:
        batch.measured(model)
    gates = gates_without(model.shape, [frozenset({head})])[0]
    with model.patch(z, gates.bool()), model.gate(gates, quantity.replacement(batch).values):
        return batch.measured(model)[0]
