"""What examples lose without some of the heads: several of these share a forward, which starts at their layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headatlas.model.heads import Baseline, HeadModel
from headatlas.model.partial import LayerInputs
from headatlas.run.batches import Batch
from headatlas.run.beginnings import common_beginning
from headatlas.run.interventions import (
    Beginning,
    Gates,
    Unit,
    copies_together,
    forwards_needed,
    gates_without,
    measure_together,
    measure_under,
    where_scored,
)

BUSY_TOKENS, NEAR_LAYERS = 384, 4  # below so many tokens, forwards of so many neighbouring layers start together


@torch.inference_mode()
def ablate_each(
    model: HeadModel,
    batch: Batch,
    units: Sequence[Unit],
    baseline: Baseline | None,
    where: Tensor | None = None,
    past: LayerInputs | None = None,
) -> NDArray[np.float64]:
    """What the quantity loses without each unit [example, unit], intact minus ablated.

    What happens below a layer does not depend on its heads: it is computed once, and every forward starts at the layer
    of its heads. With `past` the batch goes on after a recorded prefix, where the baseline is what the heads do anyway.
    Where the rows begin alike and the baseline does not depend on the row, their beginning is run once for each unit.
    """
    alike = where is None and not isinstance(baseline, Mapping) and not (past and past.prefix)
    shared = common_beginning(batch) if alike and model.sharing.prefix else 0
    groups = starting_together(units, batch.after(shared).ids.numel())
    starts = [min(units[i][0] for i in numbers) if model.sharing.layers else 0 for numbers in groups]
    with where_scored(model):
        beginning = None
        if shared:
            with model.record_inputs(layers=starts) as before:
                past = model.record_prefix(batch.ids[:1, :shared])
            beginning, batch = Beginning(batch.ids[:1, :shared], before), batch.after(shared)
        with model.record_inputs(past, starts) as inputs:
            intact = batch.measured(model)
        effects = np.empty((len(batch.members), len(units)))
        for layer, numbers in zip(starts, groups, strict=True):
            sets = [frozenset((units[i][0], head) for head in units[i][1]) for i in numbers]
            gates = Gates(gates_without(model.shape, sets), baseline, (layer, inputs), where, beginning)
            effects[:, numbers] = (intact - measure_under(model, batch, gates)).T
    return effects


@torch.inference_mode()
def ablate_own(
    model: HeadModel,
    batch: Batch,
    units: Sequence[Sequence[Unit]],
    baseline: Baseline | None,
    where: Tensor | None = None,
    past: LayerInputs | None = None,
) -> NDArray[np.float64]:
    """What each example loses without each unit of its own, example by example, intact minus ablated.

    The intact model runs once over all examples; a forward then has one copy of an example for each of its units.
    """
    flat = [(member, unit) for member, own in enumerate(units) for unit in own]
    tokens = largest_example(batch)
    groups = starting_together([unit for _, unit in flat], tokens)
    starts = [min(flat[i][1][0] for i in numbers) if model.sharing.layers else 0 for numbers in groups]
    effects = np.empty(len(flat))
    with where_scored(model):
        with model.record_inputs(past, starts) as inputs:
            intact = batch.measured(model)[0]
        for layer, numbers in zip(starts, groups, strict=True):
            room = copies_together(len(numbers), tokens)
            for some in (numbers[first : first + room] for first in range(0, len(numbers), room)):
                members, changed = zip(*(flat[i] for i in some), strict=True)
                rows = batch.rows_of(members)
                every, copies = torch.cat(rows), torch.tensor([len(of_member) for of_member in rows])
                gates = gates_without(model.shape, [frozenset((at, head) for head in heads) for at, heads in changed])
                own = Gates(
                    gates.repeat_interleave(copies, 0)[None],
                    _of_rows(baseline, every, {at for at, _ in changed}),
                    (layer, inputs.of_rows(every, layer)),
                    None if where is None else where[every],
                )
                effects[some] = intact[[*members]] - measure_together(model, batch.of(members), own)[0]
    return effects


def largest_example(batch: Batch) -> int:
    """Padded tokens of the example with the most rows."""
    return int(torch.bincount(batch.row_owners).max()) * batch.ids.shape[1]


def _of_rows(baseline: Baseline | None, rows: Tensor, layers: set[int]) -> Baseline | None:
    """A baseline of some rows, where it differs by row, in the layers that need it."""
    if not isinstance(baseline, Mapping):
        return baseline
    return {layer: baseline[layer][rows.to(baseline[layer].device)] for layer in layers}


def starting_together(units: Sequence[Unit], tokens: int) -> list[list[int]]:
    """Numbers of units whose forwards start at the same layer: those of one layer, and of the next ones as well where
    a forward of `tokens` for each of them would leave the processor idle."""
    by_layer: dict[int, list[int]] = {}
    for number, (layer, _) in enumerate(units):
        by_layer.setdefault(layer, []).append(number)
    together: dict[int, list[int]] = {}  # by the layer at which they start
    for layer, numbers in sorted(by_layer.items()):
        start = max(together, default=layer)
        idle = len(together.get(start, [])) * tokens < BUSY_TOKENS
        together.setdefault(start if idle and layer - start < NEAR_LAYERS else layer, []).extend(numbers)
    return list(together.values())


def ablation_forwards(units: Sequence[Unit], tokens: int, shared: bool = False) -> int:
    """Forwards of `ablate_each` on a batch of `tokens`, with the one of the intact model; where a common beginning is
    `shared`, tokens after it."""
    forwards = 1 + sum(forwards_needed(len(numbers), tokens) for numbers in starting_together(units, tokens))
    return 2 * forwards if shared else forwards
