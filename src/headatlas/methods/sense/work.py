"""The work of `sense` before it is done: all masks, and at most the pairs that its settings allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headatlas.methods.attribute import plan_tasks
from headatlas.methods.effects import exact_load, single_heads
from headatlas.methods.sense import cells, pairs
from headatlas.model.memory import Load
from headatlas.run.interventions import FORWARD_TOKENS
from headatlas.run.work import NotingRunner, Step
from headatlas.suites.suite import MAPPED

if TYPE_CHECKING:
    from headatlas.methods.sense.sense import Sense
    from headatlas.run.context import RunContext


def sense_steps(sense: Sense, context: RunContext) -> list[Step]:
    quantities = plan_tasks(context, MAPPED, sense.metric, sense.baseline, sense.seed)
    measured = cells.mask_cells(quantities, sense.draw(quantities))
    loads = [exact_load(quantities[task], single_heads(context.heads), batch) for task, batch, _ in measured]
    steps = [Step(cells.TITLE, [cell for _, _, cell in measured], loads=loads)]
    count = min(sense.pairs, len(context.heads))
    return steps + [step for task in context.tasks if count > 1 for step in _pair_steps(sense, context, task, count)]


def _pair_steps(sense: Sense, context: RunContext, task: str, count: int) -> list[Step]:
    """Pairs of heads from all layers, at most those of the lowest ones; nothing, not even the mean that replaces them,
    where fewer than two heads matter."""
    noting = NotingRunner()
    quantity = pairs.pair_quantity(sense, context.with_runner(noting), task)
    spread = [context.heads[i] for i in np.linspace(0, len(context.heads) - 1, count).astype(int)]
    steps = [Step(pairs.TITLE, pairs.pair_cells(quantity, heads)) for heads in (spread, context.heads[:count])]
    tokens = [sum(cell.tokens for cell in step.cells) for step in (*noting.steps, steps[1])]
    return [
        Step(step.title, step.cells, most, [Load(FORWARD_TOKENS)])
        for step, most in zip([*noting.steps, steps[0]], tokens, strict=True)
    ]
