"""What every example loses under its masks, measured."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from headatlas.methods.effects import MEASURED_TOKENS, OVERHEAD, BatchCell, Quantities, after_prefix, forwards_before
from headatlas.methods.sense.masks import BLOCK, Masks
from headatlas.run.cells import CellKind
from headatlas.run.interventions import FORWARD_TOKENS, Gates, measure_under
from headatlas.stats import Array

if TYPE_CHECKING:
    from headatlas.run.batches import Batch
    from headatlas.run.cells import Cell, Result
    from headatlas.run.quantity import TaskQuantity

KIND = CellKind("losses under masks", 2)
TITLE = "Random masks"


def measure_losses(quantities: Quantities, masks: Mapping[str, Masks]) -> dict[str, Array]:
    """Per task, what each example loses under each of its masks [example, turn, mask]."""
    cells = mask_cells(quantities, masks)
    runner = next(iter(quantities.values())).context.runner
    losses = {task: np.empty((*masks[task].blocks.shape, BLOCK)) for task in quantities}
    for (task, batch, _), result in zip(cells, runner.run(TITLE, [cell for *_, cell in cells]), strict=True):
        losses[task][list(batch.members)] = result["losses"].reshape(len(batch.members), -1, BLOCK)
    return losses


def mask_cells(quantities: Quantities, masks: Mapping[str, Masks]) -> list[BatchCell]:
    """The cells of `measure_losses`."""
    return [
        (task, batch, _cell(quantity, batch, masks[task]))
        for task, quantity in quantities.items()
        for batch in _batches(quantity, masks[task])
    ]


def _batches(quantity: TaskQuantity, masks: Masks) -> list[Batch]:
    """Padding is run again for every mask, another batch costs about three more forwards."""
    return quantity.batches(MEASURED_TOKENS, round(3 * OVERHEAD / (masks.blocks.shape[1] * BLOCK)))


def _cell(quantity: TaskQuantity, batch: Batch, masks: Masks) -> Cell:
    """The examples of one batch, every one under masks of its own."""
    _, prefix, rest = after_prefix(quantity, batch)
    removed = np.stack([masks.of_example(i) for i in batch.members], 1)  # [mask, example, head]
    tokens = rest.ids.numel()
    forwards = forwards_before(quantity, prefix) + 1 + -(-len(removed) // max(1, FORWARD_TOKENS // tokens))
    return quantity.context.cell(
        KIND, partial(_losses, quantity, batch, removed), batch.size * prefix + tokens * (2 + len(removed)),
        forwards=forwards, batch=batch.key,
        masks=hashlib.sha256(f"{removed.shape}".encode() + np.packbits(removed).tobytes()).hexdigest(),
        **quantity.inputs(batch),
    )  # fmt: skip


@torch.inference_mode()
def _losses(quantity: TaskQuantity, batch: Batch, removed: NDArray[np.bool_]) -> Result:
    """`losses` [example, mask], of masks `removed` [mask, example, head]."""
    model, prefix, rest = after_prefix(quantity, batch)
    past = model.record_prefix(batch.ids[:, :prefix])
    replaced = quantity.replacement(batch, past)
    with model.record_inputs(past) as inputs:
        intact = rest.measured(model)
    gates = torch.from_numpy(~removed[:, rest.row_owners.numpy()]).float().unflatten(-1, model.shape)
    under = measure_under(model, rest, Gates(gates, replaced.values, (0, inputs), replaced.where))
    return {"losses": (intact - under).T.numpy()}
