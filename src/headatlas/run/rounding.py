"""What half precision adds to effects: those of some heads on some examples, beside the same in float32."""

from __future__ import annotations

from functools import partial

import numpy as np

from headatlas.model.precision import in_float32, is_rounded
from headatlas.run.ablation import ablate_each, ablation_forwards
from headatlas.run.batches import BATCH_TOKENS, Batch
from headatlas.run.cells import Cell, CellKind, CellsFailed, Result
from headatlas.run.context import RunContext
from headatlas.run.interventions import Unit
from headatlas.run.quantity import plan_quantity
from headatlas.run.work import Step

ROUNDING = CellKind("rounding")
TITLE = "Rounding"
EXAMPLES = 16  # of all tasks together
LAYERS = 4  # one head in each of so many layers


def rounding_noise(context: RunContext) -> float | None:
    """Root mean square, over examples and heads, of what rounding adds to the effect of a head on one example, in nats.

    None for a model in float32, and where it cannot be measured for lack of memory, which is then said. A head is
    removed by zero; the metric is that of the task.
    """
    if not is_rounded(context.model):
        return None
    try:
        results = context.runner.run(TITLE, _cells(context))
    except CellsFailed as error:
        context.say(f"What rounding adds could not be measured: {error.failures[0]}")
        return None
    return float(np.sqrt(np.square(np.concatenate([result["differences"] for result in results])).mean()))


def rounding_steps(context: RunContext) -> list[Step]:
    """The work of `rounding_noise`; none for a model in float32."""
    return [Step(TITLE, _cells(context))] if is_rounded(context.model) else []


def _cells(context: RunContext) -> list[Cell]:
    layers = np.unique(np.linspace(0, context.model.n_layers - 1, LAYERS).astype(int)).tolist()
    units: list[Unit] = [(layer, (layer % context.model.n_heads,)) for layer in layers]
    each = max(1, EXAMPLES // len(context.tasks))
    cells = []
    for task in context.tasks:
        quantity = plan_quantity(context, task, ("fit",), None, "zero")
        for batch in quantity.only(range(min(each, len(quantity.items)))).batches(BATCH_TOKENS):
            cost = 2 * batch.ids.numel() * (1 + len(units))
            compute = partial(_differences, context, batch, units)
            listed = [[layer, list(heads)] for layer, heads in units]
            inputs = {"batch": batch.key, "units": listed, "metric": quantity.metric}
            forwards = 2 * ablation_forwards(units, batch.ids.numel())
            cells.append(context.cell(ROUNDING, compute, cost, forwards=forwards, **inputs))
    return cells


def _differences(context: RunContext, batch: Batch, units: list[Unit]) -> Result:
    """Effects [example, unit] in the model's dtype less those in float32."""
    rounded = ablate_each(context.model, batch, units, None)
    with in_float32(context.model):
        precise = ablate_each(context.model, batch, units, None)
    return {"differences": rounded - precise}
