"""Heads removed one by one, in pairs, and with all others held at what they do in the intact model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
import torch
from torch import Tensor

from headatlas.atlas.records import Head
from headatlas.methods.effects import after_prefix, exact_batch_size, forwards_before
from headatlas.microscope.view import TaskView
from headatlas.model.heads import HeadModel
from headatlas.model.partial import LayerInputs
from headatlas.run.ablation import starting_together
from headatlas.run.batches import Batch
from headatlas.run.cells import Cell, CellKind, Result
from headatlas.run.interventions import FORWARD_TOKENS, Gates, gates_without, measure_under
from headatlas.run.quantity import Replacement, TaskQuantity
from headatlas.stats import Array

REMOVED = CellKind("heads one by one, in pairs and held", 2)
TITLE = "Heads one by one and in pairs"

Set = frozenset[Head]


@dataclass(frozen=True)
class Removal:
    """What every held-out example of a task gives: the quantity [example] `intact` and `without` sets of heads, and
    without single heads with all others `held`."""

    intact: Array
    without: Mapping[Set, Array]
    held: Mapping[Head, Array]

    def effect(self, *heads: Head) -> Array:
        """What is lost without some heads [example]."""
        effect: Array = self.intact - self.without[frozenset(heads)]
        return effect

    def interaction(self, first: Head, second: Head) -> Array:
        """How much more is lost without both than the sum of what is lost without each [example]."""
        return self.effect(first, second) - self.effect(first) - self.effect(second)


def remove_heads(views: Sequence[TaskView]) -> list[Removal]:
    """Of each task: its strongest heads and all their pairs; other heads that were asked for, and their pairs with the
    strongest."""
    cells = [[*_cells(view)] for view in views]
    every = [cell for of_task in cells for _, _, _, cell in of_task]
    results = iter(views[0].quantity.context.runner.run(TITLE, every)) if views else iter(())
    removals = []
    for view, of_task in zip(views, cells, strict=True):
        removal = Removal(np.empty(len(view.quantity.items)), {}, {})
        for sets, heads, batch, _ in of_task:
            result, members = next(results), list(batch.members)
            removal.intact[members] = result["intact"]
            for target, keys, name in ((removal.without, sets, "without"), (removal.held, heads, "held")):
                for key, values in zip(keys, result[name].T, strict=True):
                    target.setdefault(key, np.empty(len(view.quantity.items)))[members] = values  # type: ignore
        removals.append(removal)
    return removals


def _cells(view: TaskView) -> Iterator[tuple[list[Set], Sequence[Head], Batch, Cell]]:
    """The graph has cells of its own: it is the same whatever heads are asked for."""
    strongest, others, quantity = view.strongest, view.others, view.quantity
    parts = [([*combinations(strongest, 2)], strongest)]
    parts += [([(head, strong) for head in others for strong in strongest], others)] if others else []
    for pairs, heads in parts:
        sets = [frozenset({head}) for head in heads] + [frozenset(pair) for pair in pairs]
        for batch in quantity.batches(*exact_batch_size(len(sets), quantity.context.model.n_layers)):
            yield sets, heads, batch, _cell(quantity, sets, heads, batch)


def _cell(quantity: TaskQuantity, sets: list[Set], heads: Sequence[Head], batch: Batch) -> Cell:
    model, prefix, rest = after_prefix(quantity, batch)
    tokens, layers = rest.ids.numel(), model.n_layers
    depths = [1 - first_layer(some) / layers for some in [*sets, *(frozenset({head}) for head in heads)]]
    under = sum(-(-len(part) // max(1, FORWARD_TOKENS // tokens)) for part in _starts(sets, tokens))
    return quantity.context.cell(
        REMOVED,
        partial(_compute, quantity, sets, heads, batch),
        batch.size * prefix + tokens * (2 + sum(depths)),
        forwards=forwards_before(quantity, prefix) + 1 + under + len(heads),
        batch=batch.key,
        sets=[sorted(map(list, some)) for some in sets],
        held=[list(head) for head in heads],
        **quantity.inputs(batch),
    )


@torch.inference_mode()
def _compute(quantity: TaskQuantity, sets: list[Set], heads: Sequence[Head], batch: Batch) -> Result:
    model, prefix, rest = after_prefix(quantity, batch)
    past = model.record_prefix(batch.ids[:, :prefix])
    replaced = quantity.replacement(batch, past)
    with model.capture() as z, model.record_inputs(past) as inputs:
        intact = rest.measured(model)[0]
    without = np.empty((len(batch.members), len(sets)))
    for part in _starts(sets, rest.ids.numel()):
        some = [sets[i] for i in part]
        start = min(map(first_layer, some)) if model.sharing.layers else 0
        gates = Gates(gates_without(model.shape, some), replaced.values, (start, inputs), replaced.where)
        without[:, part] = measure_under(model, rest, gates).T.numpy()
    held = [_held(model, rest, head, replaced, inputs, z) for head in heads]
    return {
        "intact": intact.numpy(),
        "without": without,
        "held": torch.stack(held, 1).numpy(),
    }


def _held(
    model: HeadModel,
    batch: Batch,
    head: Head,
    replaced: Replacement,
    inputs: LayerInputs,
    z: Mapping[int, Tensor],
) -> Tensor:
    """The quantity [example] with one head at its baseline and all others at z: only MLPs react."""
    layer, gates = head[0], gates_without(model.shape, [frozenset({head})])[0]
    above = {number: z[number] for number in range(layer, model.n_layers)}
    start = layer if model.sharing.layers else 0
    with (
        model.start_at(start, inputs),
        model.patch(above, gates.bool()),
        model.gate(gates, replaced.values, replaced.where),
    ):
        return batch.measured(model)[0]


def first_layer(heads: Set) -> int:
    return min(layer for layer, _ in heads)


def _starts(sets: Sequence[Set], tokens: int) -> list[list[int]]:
    """Numbers of sets whose forwards start at the same layer."""
    return starting_together([(first_layer(some), ()) for some in sets], tokens)
