"""Scores under many sets of gates, or many pushes: what none of them changes is run once.

A forward starts at the first layer in which a set changes a head. Sets that change the same heads in their lower layers
share these. The beginning that all rows of a batch share is run once for each set, not once for each row. Pushes act
where an answer is predicted, so prompts are run once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import torch
from torch import Tensor

from headatlas.model.heads import Baseline, HeadModel
from headatlas.model.partial import LayerInputs
from headatlas.run.batches import Batch
from headatlas.run.cells import Result
from headatlas.run.interventions import (
    FORWARD_TOKENS,
    Beginning,
    Gates,
    Pushes,
    copies_together,
    result_of,
    score_together,
    score_under,
    where_scored,
)
from headatlas.run.packing import Starts, Trunks, prefix_of


@torch.inference_mode()
def score_sets(model: HeadModel, batch: Batch, gates: Tensor, baseline: Baseline | None = None) -> Result:
    """`logprobs` and `greedy` [set, slot] under gates [set, layer, head], as `score_under` gives them."""
    # Where every row has a baseline of its own, no two rows do the same.
    shares = model.sharing.prefix and not isinstance(baseline, Mapping)
    starts = starts_of(model, gates)
    prefix = prefix_of(batch, starts) if shares else 0
    ids, rest = batch.ids[:1, :prefix], batch.after(prefix)
    with where_scored(model), model.record_inputs() as begun:
        past = model.record_prefix(ids)
    with where_scored(model), model.record_inputs(past) as inputs:
        intact = rest.score(model)
    beginning = Beginning(ids, begun) if prefix else None
    logprobs = intact[0].repeat(len(gates), 1)
    greedy = intact[1].repeat(len(gates), 1)
    trunks = starts.trunks(prefix, rest.ids.numel())
    for start, numbers in starts.without(trunks).forwards(prefix, rest.ids.numel()):
        some = Gates(gates[numbers], baseline, (start, inputs), beginning=beginning)
        logprobs[numbers], greedy[numbers] = score_together(model, rest, some)
    if trunks is not None:
        base = Gates(gates, baseline, (0, inputs), beginning=beginning)
        for numbers, some in _grown(model, rest, base, trunks, prefix):
            logprobs[numbers], greedy[numbers] = score_together(model, rest, some)
    return result_of(logprobs, greedy)


def _grown(
    model: HeadModel, rest: Batch, sets: Gates, trunks: Trunks, prefix: int
) -> Iterator[tuple[list[int], Gates]]:
    """Numbers of sets, and what is left of their forwards above the cut."""
    assert sets.start is not None
    cut, inputs, beginning = trunks.cut, sets.start[1], sets.beginning
    begun: dict[int, Tensor] = {}  # what enters the layer of the cut, by trunk: of the beginning, and of the rest
    entered: dict[int, Tensor] = {}
    for start, chunk in trunks.forwards(prefix, rest.ids.numel()):
        some = replace(sets, gates=sets.gates[[trunks.sets[trunk][0] for trunk in chunk]], start=(start, inputs))
        past = some.begun(model, until=cut)
        with some.after(model, rest, past):
            rows = model.entering(cut, rest.ids.repeat(len(chunk), 1))
        entered |= zip(chunk, rows.split(rest.size), strict=True)
        if past is not None:
            begun |= zip(chunk, past.hidden[cut].split(1), strict=True)
    trunk_of = {number: trunk for trunk, numbers in enumerate(trunks.sets) for number in numbers}
    size = copies_together(len(trunk_of), prefix + rest.ids.numel())
    for first in range(0, len(trunk_of), size):
        numbers = trunks.numbers[first : first + size]

        def chosen(recorded: LayerInputs, of_trunk: dict[int, Tensor], numbers: list[int] = numbers) -> LayerInputs:
            return recorded.at(cut, torch.cat([of_trunk[trunk_of[number]] for number in numbers]), len(numbers))

        yield (
            numbers,
            replace(
                sets,
                gates=sets.gates[numbers],
                start=(cut, chosen(inputs, entered)),
                beginning=None if beginning is None else replace(beginning, inputs=chosen(beginning.inputs, begun)),
            ),
        )


def starts_of(model: HeadModel, gates: Tensor) -> Starts:
    """Where forwards under gates [set, layer, head] start: at the first layer with a gate that is not 1. What sets
    share above that is known where forwards can start later."""
    changed = (gates != 1).any(-1)
    if not model.sharing.layers:
        return Starts(tuple(0 if any_changed else model.n_layers for any_changed in changed.any(1)), model.n_layers)
    first = torch.where(changed.any(1), changed.int().argmax(1), model.n_layers)
    flat = gates.flatten(1)
    below = [
        tuple(flat[:, : layer * model.n_heads].unique(dim=0, return_inverse=True)[1].tolist())
        for layer in range(1, model.n_layers)
    ]
    return Starts(tuple(first.tolist()), model.n_layers, ((0,) * len(gates), *below))


def work_of_sets(batch: Batch, starts: Starts, share: bool) -> tuple[float, int]:
    """About how many tokens of whole forwards `score_sets` takes, and in how many forwards."""
    prefix = prefix_of(batch, starts) if share else 0
    rest = batch.size * (batch.ids.shape[1] - prefix)
    trunks = starts.trunks(prefix, rest)
    forwards = starts.without(trunks).forwards(prefix, rest)
    depth, count = sum(len(numbers) * (starts.layers - start) for start, numbers in forwards), len(forwards)
    if trunks is not None:
        sets = len(trunks.numbers)
        depth += trunks.below + sets * (starts.layers - trunks.cut)
        count += len(trunks.forwards(prefix, rest)) + -(-sets // copies_together(sets, prefix + rest))
    return (prefix + rest) * (1 + depth / starts.layers), (1 + count) * (2 if prefix else 1)


@torch.inference_mode()
def score_pushes(model: HeadModel, batch: Batch, pushes: Tensor) -> Result:
    """`logprobs` and `greedy` [push, slot] with pushes [push, layer, head, head_dim], as `score_under` gives them."""
    prefix = unpushed(batch) if model.sharing.prefix else 0
    rest = batch.after(prefix)
    with where_scored(model), model.record_inputs(model.record_prefix(batch.ids[:, :prefix])) as inputs:
        rest.score(model)
    touched = pushes.flatten(2).abs().sum((0, 2)).nonzero().flatten().tolist()
    start = min(touched, default=0) if model.sharing.layers else 0
    return score_under(model, rest, Pushes(pushes, (start, inputs)))


def work_of_pushes(model: HeadModel, batch: Batch, pushes: int) -> tuple[int, int]:
    """About how many tokens `score_pushes` takes, and in how many forwards."""
    prefix = unpushed(batch) if model.sharing.prefix else 0
    rest = batch.size * (batch.ids.shape[1] - prefix)
    return batch.size * prefix + rest * (1 + pushes), 2 + -(-pushes // max(1, FORWARD_TOKENS // rest))


def unpushed(batch: Batch) -> int:
    """Positions at the beginning of a batch before any token of an answer is predicted."""
    return int(batch.positions.min())
