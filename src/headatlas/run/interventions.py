"""Scoring a batch under interventions: the one way in which ablation, tests, steering and gates run the model.

Several interventions share a forward: the batch is repeated, one copy for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Protocol, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headatlas.model.heads import Baseline, HeadModel
from headatlas.model.memory import Load, within_memory
from headatlas.model.partial import LayerInputs
from headatlas.run.batches import Batch
from headatlas.run.cells import Result

FORWARD_TOKENS = 1024  # padded tokens in one forward; larger ones outgrow the caches of a processor
Unit = tuple[int, tuple[int, ...]]  # a layer, and those of its heads that are replaced together


class Intervention(Protocol):
    """One or more changes of the heads, each for its own copy of a batch."""

    def __len__(self) -> int: ...

    def __getitem__(self, which: slice) -> Self: ...

    def applied(self, model: HeadModel, batch: Batch) -> AbstractContextManager[None]:
        """In force while a forward runs over `batch.repeat(len(self))`."""
        ...


Some = TypeVar("Some", bound=Intervention)


@dataclass(frozen=True)
class Beginning:
    """What rows of a batch have in common: ids [1, pos], and what entered the layers of the intact model there."""

    ids: Tensor
    inputs: LayerInputs


@dataclass(frozen=True)
class Gates:
    """z becomes g z + (1 - g) baseline, with gates g [intervention, layer, head], or [intervention, row, layer, head]
    where every row of the batch has its own.

    `baseline` and `where` [row, pos] (the positions at which gates apply) are those of a single copy of the batch.
    `start` is a layer below which no gate differs from 1, with what entered the layers of the intact model: the forward
    then begins there. With a `beginning` the batch goes on after what all its rows have in common. Gates change that as
    well, so it is run too, once for each intervention and not for each row.
    """

    gates: Tensor
    baseline: Baseline | None = None
    start: tuple[int, LayerInputs] | None = None
    where: Tensor | None = None
    beginning: Beginning | None = None

    def __len__(self) -> int:
        return len(self.gates)

    def __getitem__(self, which: slice) -> Gates:
        return replace(self, gates=self.gates[which])

    def applied(self, model: HeadModel, batch: Batch) -> AbstractContextManager[None]:
        return self.after(model, batch, self.begun(model))

    @contextmanager
    def after(self, model: HeadModel, batch: Batch, past: LayerInputs | None) -> Iterator[None]:
        """In force, after what the beginning has become."""
        copies = len(self)
        by_row = self.gates.dim() == 4
        rows = self.gates.flatten(0, 1) if by_row else self.gates.repeat_interleave(batch.size, 0)
        where = None if self.where is None else self.where.repeat(copies, 1)
        begun = _starting(model, self.start, copies, past)
        with begun, model.gate(rows, self._repeated_baseline(copies), where):
            yield

    def begun(self, model: HeadModel, until: int | None = None) -> LayerInputs | None:
        """What the beginning has become under each intervention: run to its end, or only as far as a layer."""
        if self.beginning is None or self.start is None:
            return None
        copies, (layer, _) = len(self), self.start
        with model.start_at(layer, self.beginning.inputs, copies), model.gate(self.gates, self.baseline):
            return model.record_prefix(self.beginning.ids.repeat(copies, 1), until=until)

    def _repeated_baseline(self, copies: int) -> Baseline | None:
        """Only a baseline that differs by row has to be repeated, and only where a gate lets it in."""
        if not isinstance(self.baseline, Mapping):
            return self.baseline
        used = list(range(self.gates.shape[-2]))
        if not self.gates.requires_grad:
            used = (self.gates != 1).any(-1).flatten(0, -2).any(0).nonzero().flatten().tolist()
        return {layer: self.baseline[layer].repeat(copies, 1, 1, 1) for layer in used}


@dataclass(frozen=True)
class GatesByExample:
    """A single intervention in which every example of the batch has gates of its own [example, layer, head].

    With `past` the batch goes on after a prefix, whose rows are those of the batch.
    """

    gates: Tensor
    baseline: Baseline | None = None
    past: LayerInputs | None = None

    def __len__(self) -> int:
        return 1

    def __getitem__(self, which: slice) -> GatesByExample:
        return self

    @contextmanager
    def applied(self, model: HeadModel, batch: Batch) -> Iterator[None]:
        example_of_row = torch.tensor(batch.members)[batch.row_owners]
        with model.continue_after(self.past or LayerInputs()), model.gate(self.gates[example_of_row], self.baseline):
            yield


@dataclass(frozen=True)
class Pushes:
    """Adds [intervention, layer, head, head_dim] to z wherever a token of an answer is predicted. `start` is that of
    `Gates`."""

    pushes: Tensor
    start: tuple[int, LayerInputs] | None = None

    def __len__(self) -> int:
        return len(self.pushes)

    def __getitem__(self, which: slice) -> Pushes:
        return replace(self, pushes=self.pushes[which])

    @contextmanager
    def applied(self, model: HeadModel, batch: Batch) -> Iterator[None]:
        width = batch.ids.shape[1]
        first = torch.full((batch.size,), width).scatter_reduce(0, batch.rows, batch.positions, "amin")
        answering = (torch.arange(width) >= first[:, None]).float()[..., None, None]
        touched = self.pushes.flatten(2).abs().sum((0, 2)).nonzero().flatten().tolist()
        # [push, row, pos, head, head_dim], the rows of a push together
        added = {layer: (self.pushes[:, None, None, layer] * answering).flatten(0, 1) for layer in touched}
        with _starting(model, self.start, len(self)), model.add(added):
            yield


def _starting(
    model: HeadModel, start: tuple[int, LayerInputs] | None, copies: int, past: LayerInputs | None = None
) -> AbstractContextManager[None]:
    return nullcontext() if start is None else model.start_at(*start, copies, past)


def where_scored(model: HeadModel) -> AbstractContextManager[None]:
    """The last layer runs only at positions that are scored, where the model allows that."""
    return model.last_layer_where_scored() if model.sharing.last_layer else nullcontext()


def score_together(model: HeadModel, batch: Batch, intervention: Intervention) -> tuple[Tensor, Tensor]:
    """Log-probabilities and greedy hits [intervention, slot], all in one forward, which can be differentiated."""
    copies = len(intervention)
    with where_scored(model), intervention.applied(model, batch):
        logprobs, greedy = batch.repeat(copies).score(model)
    return logprobs.view(copies, -1), greedy.view(copies, -1)


def copies_together(interventions: int, tokens: int) -> int:
    """Copies of a batch of `tokens` in one forward: as few forwards as FORWARD_TOKENS allows, and all about as large.

    The largest decides the memory, and a small one leaves the processor idle: nine copies where there is room for four
    are three times three, not four, four and one.
    """
    return max(1, -(-interventions // max(1, forwards_needed(interventions, tokens))))


def forwards_needed(copies: int, tokens: int) -> int:
    """Forwards that so many copies of a batch of `tokens` take."""
    room = max(1, FORWARD_TOKENS // tokens)
    return -(-copies // room)


def measure_together(model: HeadModel, batch: Batch, intervention: Intervention) -> Tensor:
    """What is measured of every example [intervention, example], all in one forward, which can be differentiated."""
    with where_scored(model), intervention.applied(model, batch):
        return batch.measured(model, len(intervention))


@torch.inference_mode()
def measure_under(model: HeadModel, batch: Batch, intervention: Intervention) -> Tensor:
    """What is measured of every example [intervention, example], in as many forwards as FORWARD_TOKENS asks for."""
    return torch.cat([measure_together(model, batch, some) for some in _forwards(batch, intervention)])


@torch.inference_mode()
def score_under(model: HeadModel, batch: Batch, intervention: Intervention) -> Result:
    """`logprobs` and `greedy` [intervention, slot], in as many forwards as FORWARD_TOKENS asks for."""
    parts = [score_together(model, batch, some) for some in _forwards(batch, intervention)]
    logprobs, greedy = (torch.cat(scores) for scores in zip(*parts, strict=True))
    return result_of(logprobs, greedy)


def _forwards(batch: Batch, intervention: Some) -> Iterator[Some]:
    """The interventions that share a forward."""
    size = copies_together(len(intervention), batch.ids.numel())
    return (intervention[first : first + size] for first in range(0, len(intervention), size))


@torch.inference_mode()
def measure_intact(model: HeadModel, batch: Batch) -> Tensor:
    """What is measured of every example [example] of the model as it is."""
    with where_scored(model):
        return batch.measured(model)[0]


@torch.inference_mode()
def score_intact(model: HeadModel, batch: Batch) -> Result:
    """`logprobs` and `greedy` [slot] of the model as it is."""
    with where_scored(model):
        return result_of(*batch.score(model))


def result_of(logprobs: Tensor, greedy: Tensor) -> Result:
    """Scores as a cell holds them."""
    return {"logprobs": logprobs.numpy(), "greedy": greedy.numpy().astype(np.uint8)}


def gate_gradient(
    model: HeadModel,
    batch: Batch,
    baseline: Baseline | None,
    where: Tensor | None = None,
    past: LayerInputs | None = None,
) -> NDArray[np.float64]:
    """d quantity / d gate at gates of 1, for every example, layer and head: [example, layer * head] in float64.

    A gate for every row gives all of these from one backward; the rows of an example add up. With `past` the batch goes
    on after a recorded prefix, where the baseline is what the heads do anyway.
    """
    gates, past = torch.ones(batch.size, *model.shape, requires_grad=True), past or LayerInputs()
    places = len(batch.reading(model).whole)
    load = Load(batch.ids.numel(), places=places, past=batch.size * past.prefix, backward=True)
    with (
        torch.enable_grad(),
        where_scored(model),
        model.continue_after(past),
        model.gate(gates, baseline, where),
        within_memory(model, load),
    ):
        (gradient,) = torch.autograd.grad(batch.measured(model).sum(), gates)
    by_row = gradient.flatten(1).double().cpu()
    return (
        torch.zeros(len(batch.members), by_row.shape[1], dtype=torch.float64)
        .index_add(0, batch.row_owners, by_row)
        .numpy()
    )


def gates_without(shape: tuple[int, int], sets: list[frozenset[tuple[int, int]]]) -> Tensor:
    """Gates [set, layer, head]: 0 for the heads of each set, 1 for all others."""
    return gates_scaling(shape, [(heads, 0.0) for heads in sets])


def gates_scaling(shape: tuple[int, int], scaled: list[tuple[frozenset[tuple[int, int]], float]]) -> Tensor:
    """Gates [set, layer, head]: a factor for the heads of each set, 1 for all others."""
    gates = torch.ones(len(scaled), *shape)
    for number, (heads, factor) in enumerate(scaled):
        for layer, head in heads:
            gates[number, layer, head] = factor
    return gates
