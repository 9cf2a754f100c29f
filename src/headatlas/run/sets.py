"""Scores under many sets of gates, or many pushes: what none of them changes is run once.

A forward starts at the first layer in which a set changes a head. The beginning that all rows of a batch share is run
once for each set, not once for each row. Pushes act where an answer is predicted, so prompts are run once.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from headatlas.model.heads import Baseline, HeadModel
from headatlas.run.batches import Batch
from headatlas.run.cells import Result
from headatlas.run.interventions import (
    FORWARD_TOKENS,
    Beginning,
    Gates,
    Pushes,
    result_of,
    score_together,
    score_under,
    where_scored,
)
from headatlas.run.packing import Starts, prefix_of


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
    for start, numbers in starts.forwards(prefix, rest.ids.numel()):
        some = Gates(gates[numbers], baseline, (start, inputs), beginning=beginning)
        logprobs[numbers], greedy[numbers] = score_together(model, rest, some)
    return result_of(logprobs, greedy)


def starts_of(model: HeadModel, gates: Tensor) -> Starts:
    """Where forwards under gates [set, layer, head] start: at the first layer with a gate that is not 1."""
    changed = (gates != 1).any(-1)
    first = changed.int().argmax(1) if model.sharing.layers else torch.zeros(len(gates), dtype=torch.long)
    return Starts(tuple(torch.where(changed.any(1), first, model.n_layers).tolist()), model.n_layers)


def work_of_sets(batch: Batch, starts: Starts, share: bool) -> tuple[float, int]:
    """About how many tokens of whole forwards `score_sets` takes, and in how many forwards."""
    prefix = prefix_of(batch, starts) if share else 0
    rest = batch.size * (batch.ids.shape[1] - prefix)
    forwards = starts.forwards(prefix, rest)
    depth = sum(len(numbers) * (1 - start / starts.layers) for start, numbers in forwards)
    return (prefix + rest) * (1 + depth), (1 + len(forwards)) * (2 if prefix else 1)


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
