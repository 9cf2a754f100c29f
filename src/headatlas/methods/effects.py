"""Effects of heads on examples: estimated from a gradient, or measured exactly by interchange or removal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from headatlas.atlas.records import Head
from headatlas.run.cells import CellKind
from headatlas.run.work import OVERHEAD
from headatlas.stats import Array

if TYPE_CHECKING:
    from headatlas.model.heads import HeadModel
    from headatlas.model.memory import Load
    from headatlas.run.batches import Batch
    from headatlas.run.cells import Cell, Result
    from headatlas.run.interventions import Unit
    from headatlas.run.quantity import TaskQuantity

ATTRIBUTED_TOKENS = 512  # padded tokens of a batch after its prefix
MEASURED_TOKENS = 192  # the same for exact effects of many heads, several of which share a forward
ATTRIBUTION, EXACT = CellKind("attribution", 3), CellKind("exact effects", 3)

Quantities = Mapping[str, "TaskQuantity"]  # by task
BatchCell = tuple[str, "Batch", "Cell"]  # with its task


def attributed_effects(title: str, quantities: Quantities) -> dict[str, Array]:
    """Per task, what each example would lose without each head, to first order [example, layer * head]."""
    return _by_task(title, quantities, attribution_cells(quantities))


def attribution_cells(quantities: Quantities) -> list[BatchCell]:
    """The cells of `attributed_effects`."""
    from headatlas.run.interventions import gate_gradient, where_scored

    def cell(quantity: TaskQuantity, batch: Batch) -> Cell:
        model, prefix, rest = after_prefix(quantity, batch)

        def compute() -> Result:
            with where_scored(model):
                past = model.record_prefix(batch.ids[:, :prefix])
                replaced = quantity.replacement(batch, past)
            return {"effects": gate_gradient(model, rest, replaced.values, replaced.where, past)}

        # The prefix once; then the twin, the prompt, and a backward that costs about as much as a forward.
        cost = batch.size * prefix + 3 * rest.ids.numel()
        forwards = forwards_before(quantity, prefix) + 1
        return quantity.context.cell(
            ATTRIBUTION, compute, cost, forwards=forwards, batch=batch.key, **quantity.inputs(batch)
        )

    return [
        (task, batch, cell(quantity, batch))
        for task, quantity in quantities.items()
        for batch in quantity.batches(ATTRIBUTED_TOKENS, OVERHEAD, by_split=True)
    ]


def attribution_load(quantity: TaskQuantity, batch: Batch) -> Load:
    """What a cell of `attribution_cells` holds in memory."""
    from headatlas.model.memory import Load

    _, prefix, rest = after_prefix(quantity, batch)
    replaced = quantity.replacement_forwards * quantity.context.model.n_layers
    return Load(rest.ids.numel(), places=len(rest.rows), past=batch.size * prefix, replaced=replaced, backward=True)


def exact_effects(title: str, quantities: Quantities, task_units: Mapping[str, Sequence[Unit]]) -> dict[str, Array]:
    """Per task, what each example loses without each of its units, measured [example, unit].

    Keys may be any names: parts of a task that are measured for different units have one each.
    """
    return _by_task(title, quantities, exact_cells(quantities, task_units))


def exact_cells(quantities: Quantities, task_units: Mapping[str, Sequence[Unit]]) -> list[BatchCell]:
    """The cells of `exact_effects`."""
    from headatlas.run.beginnings import common_beginning
    from headatlas.run.interventions import ablate_each, ablation_forwards, where_scored
    from headatlas.run.quantity import ALIKE

    def cell(quantity: TaskQuantity, units: Sequence[Unit], batch: Batch) -> Cell:
        model, prefix, rest = after_prefix(quantity, batch)

        def compute() -> Result:
            with where_scored(model):
                past = model.record_prefix(batch.ids[:, :prefix])
                replaced = quantity.replacement(batch, past, {layer for layer, _ in units})
            return {"effects": ablate_each(model, rest, units, replaced.values, replaced.where, past)}

        alike = model.sharing.prefix and quantity.baseline in ALIKE and not prefix
        shared = common_beginning(rest) if alike else 0
        tokens = rest.after(shared).ids.numel()
        cost = batch.size * prefix + (shared + tokens) * (2 + relative_depth(units, model.n_layers))
        forwards = forwards_before(quantity, prefix) + ablation_forwards(units, tokens, shared > 0)
        listed = [[layer, list(heads)] for layer, heads in units]
        return quantity.context.cell(
            EXACT, compute, cost, forwards=forwards, batch=batch.key, units=listed, **quantity.inputs(batch)
        )

    return [
        (task, batch, cell(quantity, task_units[task], batch))
        for task, quantity in quantities.items()
        for batch in quantity.batches(
            *exact_batch_size(len(task_units[task]), quantity.context.model.n_layers),
            by_start=quantity.context.model.sharing.prefix,
        )
    ]


def exact_load(quantity: TaskQuantity, units: Sequence[Unit], batch: Batch) -> Load:
    """What a cell of `exact_cells` holds in memory, if rows that begin alike share nothing."""
    from headatlas.model.memory import Load
    from headatlas.run.interventions import copies_together, starting_together

    _, prefix, rest = after_prefix(quantity, batch)
    tokens = rest.ids.numel()
    groups = starting_together(units, tokens)
    copies = max((copies_together(len(group), tokens) for group in groups), default=1)
    replaced = quantity.replacement_forwards * len({layer for layer, _ in units})
    return Load(tokens, copies, len(rest.rows), batch.size * prefix, recorded=len(groups), replaced=replaced)


def exact_batch_size(units: int, layers: int) -> tuple[int, int]:
    """Tokens of a batch for exact effects of so many units, and how many tokens of padding another forward is worth."""
    crowded = units / layers  # units of a layer, on average
    return max(MEASURED_TOKENS, round(ATTRIBUTED_TOKENS / crowded)), round(OVERHEAD / crowded)


def relative_depth(units: Sequence[Unit], layers: int) -> float:
    """What forwards from the layer of each unit upwards cost together, in whole forwards."""
    return sum(layers - layer for layer, _ in units) / layers


def forwards_before(quantity: TaskQuantity, prefix: int) -> int:
    """Forwards before the first one of the prompt: of the prefix, and of what replaces heads."""
    return int(prefix > 0) + quantity.replacement_forwards


def after_prefix(quantity: TaskQuantity, batch: Batch) -> tuple[HeadModel, int, Batch]:
    """The model, how many positions at the beginning of a batch need to be run only once, and the rest of the batch."""
    model = quantity.context.model
    prefix = quantity.prefix(batch) if model.sharing.prefix else 0
    return model, prefix, batch.after(prefix)


def single_heads(heads: Iterable[Head]) -> list[Unit]:
    """Each head as a unit of its own."""
    return [(layer, (head,)) for layer, head in heads]


def kv_groups(model: HeadModel) -> list[Unit]:
    """The heads that share keys and values, replaced together; none where every head has its own."""
    if model.n_kv_heads == model.n_heads:
        return []
    return [(layer, group) for layer in range(model.n_layers) for group in model.kv_groups]


def attributed_units(attributed: Array, units: Sequence[Unit], shape: tuple[int, int]) -> Array:
    """What each example would lose without each unit [example, unit]: to first order, the sum over its heads."""
    by_head = attributed.reshape(-1, *shape)
    return np.stack([by_head[:, layer, list(heads)].sum(1) for layer, heads in units], 1)


def _by_task(title: str, quantities: Quantities, cells: Sequence[BatchCell]) -> dict[str, Array]:
    """Run the cells of every task under one bar; rows in the order of the quantity's items."""
    if not cells:
        return {}
    runner = next(iter(quantities.values())).context.runner
    results = runner.run(title, [cell for _, _, cell in cells])
    effects: dict[str, Array] = {}
    for (task, batch, _), result in zip(cells, results, strict=True):
        values = result["effects"]
        rows = effects.setdefault(task, np.empty((len(quantities[task].items), values.shape[1])))
        rows[list(batch.members)] = values
    return effects
