"""The work of `repair` before it is done: at most, with as many strong heads and candidates as its settings allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headatlas.methods.repair import exact, nominate
from headatlas.methods.repair.nominate import Pairs
from headatlas.model.memory import Load
from headatlas.run.batches import BATCH_TOKENS
from headatlas.run.context import RunContext
from headatlas.run.interventions import FORWARD_TOKENS
from headatlas.run.work import Step

if TYPE_CHECKING:
    from headatlas.methods.repair.repair import Repair


def repair_steps(repair: Repair, context: RunContext, task: str) -> list[Step]:
    """Of one task: candidates, intact and without each strong head; then all pairs."""
    quantity = nominate.nominating(repair, context, task)
    leaders = context.heads[: repair.leaders]
    candidates = context.heads[repair.leaders : repair.leaders + repair.candidates]
    batches = quantity.batches(BATCH_TOKENS)
    places = [len(batch.reading(context.model).whole) for batch in batches]
    gradients = [
        Load(batch.ids.numel(), places=number, backward=True) for batch, number in zip(batches, places, strict=True)
    ]
    intact = nominate.gradient_cells(quantity, None)
    without = [cell for leader in leaders for cell in nominate.gradient_cells(quantity, leader)]
    pairs = exact.pair_cells(
        exact.measuring(repair, context, task), Pairs(leaders, dict.fromkeys(candidates, leaders[0]))
    )
    copies = [Load(FORWARD_TOKENS, replaced=context.model.n_layers)]
    return [
        Step(nominate.TITLE, intact, loads=gradients),
        Step(nominate.TITLE, without, sum(cell.tokens for cell in without), gradients),
        Step(exact.TITLE, pairs, sum(cell.tokens for cell in pairs), copies),
    ]
