"""Which head backs up which: the strongest heads removed one by one and two by two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import torch

from headatlas.atlas.records import Diagnostic, Head
from headatlas.methods.repair.nominate import some
from headatlas.run.batches import BATCH_TOKENS
from headatlas.run.cells import CellKind
from headatlas.run.interventions import FORWARD_TOKENS, Gates, gates_without, measure_under
from headatlas.run.quantity import plan_quantity
from headatlas.run.settings import SET_BASELINES
from headatlas.stats import LEVEL, Array, Summary, summarise
from headatlas.wording import head_name

if TYPE_CHECKING:
    from headatlas.methods.sense.sense import Sense
    from headatlas.run.batches import Batch
    from headatlas.run.cells import Cell, Result
    from headatlas.run.context import RunContext
    from headatlas.run.quantity import TaskQuantity

KIND = CellKind("effects of all pairs of some heads", 2)
TITLE = "Pairs of heads"
SLIGHT = 0.1  # of the larger single effect: norms make the effects of any two heads a little more than their sum
ALONE = "effect alone"
BEYOND, BOTH = "beyond sum with ", "effect with "  # followed by the name of the other head
BACKS_UP, EACH_OTHER = "backs up ", "backs up and is backed up by "  # the same


@dataclass(frozen=True)
class PairEffects:
    """What examples lose without each head [example, head] and without each pair [example, pair], pairs in the order of
    `combinations`."""

    heads: tuple[Head, ...]
    single: Array
    both: Array
    groups: list[str]


def pair_quantity(sense: Sense, context: RunContext, task: str) -> TaskQuantity:
    """What pairs are measured on: examples of `choose`, with heads at their mean unless another baseline than a twin is
    asked for. A head that does as on the twin still tells its backup that it has done its part."""
    baseline = sense.baseline if sense.baseline in SET_BASELINES else "mean"
    metric = None if sense.metric == "margin" else sense.metric  # a margin wherever there are distractors
    return some(plan_quantity(context, task, ("choose",), metric, baseline), sense.paired)


def measure_pairs(quantity: TaskQuantity, heads: Sequence[Head]) -> PairEffects:
    batches = quantity.batches(BATCH_TOKENS)
    results = quantity.context.runner.run(TITLE, pair_cells(quantity, heads))
    effects = np.empty((len(quantity.items), results[0]["effects"].shape[1]))
    for batch, result in zip(batches, results, strict=True):
        effects[list(batch.members)] = result["effects"]
    return PairEffects(tuple(heads), effects[:, : len(heads)], effects[:, len(heads) :], quantity.groups)


def report_pairs(method: str, task: str, effects: PairEffects) -> list[Diagnostic]:
    """Of every head what the task loses without it, of every pair what it loses without both and how far that is beyond
    the sum.

    One of two heads is said to back up the other where they cost more than a tenth of the larger single effect beyond
    the sum, at a level of 0.05 for all pairs of the task together. The backup is the one that costs less alone: it
    matters where the other is missing. Where that cannot be told at a level of 0.05, each backs up the other.
    """
    pairs = list(combinations(range(len(effects.heads)), 2))
    first, second = (effects.single[:, list(side)] for side in zip(*pairs, strict=True))
    beyond = effects.both - first - second
    slight = SLIGHT * np.maximum(np.abs(first), np.abs(second))
    test, more = summarise(beyond - slight, effects.groups), summarise(first - second, effects.groups)
    backs_up = (test.mean > 0) & (test.p_value * len(pairs) < LEVEL)
    one_way = more.p_value < LEVEL

    def entry(head: int, metric: str, summary: Summary, column: int) -> Diagnostic:
        layer, number = effects.heads[head]
        bounds = summary.low[column], summary.high[column]
        told = Diagnostic.with_interval(method, metric, summary.mean[column], bounds, task)
        return replace(told, layer=layer, head=number)

    alone = summarise(effects.single, effects.groups)
    entries = [entry(head, ALONE, alone, head) for head in range(len(effects.heads))]
    of_pairs = {BEYOND: summarise(beyond, effects.groups), BOTH: summarise(effects.both, effects.groups)}
    for number, pair in enumerate(pairs):
        # The rows of a pair are those of the backup, where one is told from the other.
        head, other = reversed(pair) if backs_up[number] and one_way[number] and more.mean[number] > 0 else pair
        name = head_name(*effects.heads[other])
        entries += [entry(head, f"{what}{name}", summary, number) for what, summary in of_pairs.items()]
        if backs_up[number]:
            said = BACKS_UP if one_way[number] else EACH_OTHER
            entries.append(entry(head, f"{said}{name}", of_pairs[BEYOND], number))
    return entries


def pair_cells(quantity: TaskQuantity, heads: Sequence[Head]) -> list[Cell]:
    """One cell per batch: every head alone, then every pair."""
    context = quantity.context
    sets = [frozenset(each) for size in (1, 2) for each in combinations(heads, size)]
    layers = context.model.n_layers
    starts = _starts(quantity, sets)
    passes = (
        1
        + quantity.replacement_forwards
        + sum(len(numbers) * (1 - start / layers) for start, numbers in starts.items())
    )

    def forwards(batch: Batch) -> int:
        room = max(1, FORWARD_TOKENS // batch.ids.numel())
        return 1 + quantity.replacement_forwards + sum(-(-len(numbers) // room) for numbers in starts.values())

    return [
        context.cell(
            KIND, partial(_effects, quantity, batch, sets), batch.ids.numel() * passes, forwards=forwards(batch),
            batch=batch.key, heads=[list(head) for head in heads], **quantity.inputs(batch),
        )
        for batch in quantity.batches(BATCH_TOKENS)
    ]  # fmt: skip


def _starts(quantity: TaskQuantity, sets: Sequence[frozenset[Head]]) -> dict[int, list[int]]:
    """Numbers of sets by the layer at which their forwards begin: that of their first head."""
    starts: dict[int, list[int]] = {}
    for number, heads in enumerate(sets):
        start = min(layer for layer, _ in heads) if quantity.context.model.sharing.layers else 0
        starts.setdefault(start, []).append(number)
    return starts


@torch.inference_mode()
def _effects(quantity: TaskQuantity, batch: Batch, sets: Sequence[frozenset[Head]]) -> Result:
    """`effects` [example, set]: intact less without the set."""
    model, replaced = quantity.context.model, quantity.replacement(batch)
    with model.record_inputs() as inputs:
        intact = batch.measured(model)
    effects = np.empty((len(batch.members), len(sets)))
    for start, numbers in _starts(quantity, sets).items():
        gates = gates_without(model.shape, [sets[i] for i in numbers])
        under = measure_under(model, batch, Gates(gates, replaced.values, (start, inputs), replaced.where))
        effects[:, numbers] = (intact - under).T
    return {"effects": effects}
