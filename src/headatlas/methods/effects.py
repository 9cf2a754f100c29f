"""Effects of heads on examples: estimated from a gradient, or measured exactly by interchange or removal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from headatlas.atlas.records import Head
from headatlas.run.cells import CellKind
from headatlas.stats import Array

if TYPE_CHECKING:
    from headatlas.run.batches import Batch
    from headatlas.run.cells import Cell, Result
    from headatlas.run.quantity import TaskQuantity

ATTRIBUTION, EXACT = CellKind("attribution", 2), CellKind("exact effects")

Quantities = Mapping[str, "TaskQuantity"]  # by task


def attributed_effects(title: str, quantities: Quantities) -> dict[str, Array]:
    """Per task, what each example would lose without each head, to first order [example, layer * head]."""
    from headatlas.run.interventions import gate_gradient

    def cell(quantity: TaskQuantity, batch: Batch) -> Cell:
        def compute() -> Result:
            replaced = quantity.replacement(batch)
            return {"effects": gate_gradient(quantity.context.model, batch, replaced.values, replaced.where)}

        # The backward through frozen weights costs about as much as the forward, and so does that of the twin.
        cost = 3 * batch.ids.numel()
        return quantity.context.cell(ATTRIBUTION, compute, cost, batch=batch.key, **quantity.inputs(batch))

    return _by_task(title, quantities, cell)


def exact_effects(title: str, quantities: Quantities, heads: Sequence[Head]) -> dict[str, Array]:
    """Per task, what each example loses without each head, measured [example, head]; heads in order of layer."""
    from headatlas.run.interventions import ablate_each

    def cell(quantity: TaskQuantity, batch: Batch) -> Cell:
        model = quantity.context.model

        def compute() -> Result:
            replaced = quantity.replacement(batch)
            return {"effects": ablate_each(model, batch, list(heads), replaced.values, replaced.where)}

        depth = sum(model.n_layers - layer for layer, _ in heads) / model.n_layers
        return quantity.context.cell(
            EXACT,
            compute,
            batch.ids.numel() * (1 + depth),
            batch=batch.key,
            heads=[list(head) for head in heads],
            **quantity.inputs(batch),
        )

    return _by_task(title, quantities, cell)


def _by_task(title: str, quantities: Quantities, make_cell: Callable[[TaskQuantity, Batch], Cell]) -> dict[str, Array]:
    """Run one cell per batch of every task, under one bar; rows in the order of the quantity's items."""
    pairs = [(task, batch) for task, quantity in quantities.items() for batch in quantity.batches]
    if not pairs:
        return {}
    runner = next(iter(quantities.values())).context.runner
    results = runner.run(title, [make_cell(quantities[task], batch) for task, batch in pairs])
    effects: dict[str, Array] = {}
    for (task, batch), result in zip(pairs, results, strict=True):
        values = result["effects"]
        rows = effects.setdefault(task, np.empty((len(quantities[task].items), values.shape[1])))
        rows[list(batch.members)] = values
    return effects
