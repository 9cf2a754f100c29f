"""Effects to first order where a head does as on another text: each of the two texts is run once for both directions.

The effect is the sum over positions of (z - b) . dm / dz, where b is z of the other text. A forward does not need b, so
z and dm / dz of one text are held until the other text runs, and no more than one graph is held at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headatlas.model.heads import HeadModel
from headatlas.model.memory import Load, within_memory
from headatlas.model.partial import LayerInputs
from headatlas.run.batches import Batch
from headatlas.run.interventions import where_scored

Effects = NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """A batch of texts, and beside each row the other text, both after the beginning that all of them share.

    `others` [row, pos] are the tokens of the other texts. `index` [row, pos] says which of their positions corresponds
    to each position of the batch, and `where` [row, pos] whether one does.
    """

    batch: Batch
    others: Tensor
    index: Tensor
    where: Tensor

    def counterparts(self, others: Tensor) -> Tensor:
        """z [row, pos, head, head_dim] of the other texts, brought to the positions of the batch."""
        rows = torch.arange(len(self.index), device=others.device)[:, None]
        return others[rows, self.index.to(others.device)]


class Differentiated(NamedTuple):
    """z of every layer [row, pos, head, head_dim], and the gradient of the quantity with respect to it."""

    z: dict[int, Tensor]
    gradient: dict[int, Tensor]


class Losses:
    """What each row would lose without each head, added layer by layer as the other texts run."""

    def __init__(self, side: Side, text: Differentiated):
        self._side, self._text = side, text
        self._by_layer: dict[int, Tensor] = {}

    def add(self, layer: int, others: Tensor) -> None:
        """Take z of the other texts in one layer; the gradient of that layer is no longer held then."""
        side, (z, gradients) = self._side, self._text
        if layer in self._by_layer:  # a checkpointed layer is run again in a backward
            return
        there = side.where.to(others.device)[..., None]
        change = z[layer].float() - side.counterparts(others.detach()).float()
        by_position = (change * gradients.pop(layer).float()).sum(-1)
        self._by_layer[layer] = torch.where(there, by_position, 0).sum(1).cpu().double()

    def by_example(self) -> Effects:
        """[example, layer * head]; the rows of an example add up."""
        batch = self._side.batch
        by_row = torch.stack([self._by_layer[layer] for layer in sorted(self._by_layer)], 1).flatten(1)
        blank = torch.zeros(len(batch.members), by_row.shape[1], dtype=torch.float64)
        return blank.index_add(0, batch.row_owners, by_row).numpy()


def one_way(model: HeadModel, side: Side, past: LayerInputs) -> Effects:
    """What each example would lose if a head did as on the other text [example, layer * head]: two forwards and one
    backward."""
    losses, anywhere = Losses(side, differentiate(model, side.batch, past)), torch.tensor([0])
    with (
        _graph_without_tensors(),
        where_scored(model),
        model.continue_after(past),
        model.only_logits(anywhere, anywhere),
        model.capture(reduce=losses.add, grad=True),
    ):
        model.logits(side.others)
    return losses.by_example()


def both_ways(model: HeadModel, side: Side, mirror: Side, past: LayerInputs) -> tuple[Effects, Effects]:
    """The same for a batch and for the batch of its other texts, with the same bits: two forwards, two backwards."""
    text = differentiate(model, side.batch, past)
    forth = Losses(side, text)
    back = Losses(mirror, differentiate(model, mirror.batch, past, forth))
    for layer, z in text.z.items():
        back.add(layer, z)
    return forth.by_example(), back.by_example()


def differentiate(model: HeadModel, batch: Batch, past: LayerInputs, losses: Losses | None = None) -> Differentiated:
    """Run a batch forward and backward once. Where its texts are the other ones of a batch that has run, the `losses`
    of that batch are noted on the way."""
    seen: dict[int, Tensor] = {}

    def read(layer: int, z: Tensor) -> None:
        if losses is not None:
            losses.add(layer, z)
        seen.setdefault(layer, z)  # a checkpointed layer is run again in the backward

    # Besides the graph there is a gradient for z of every layer.
    load = Load(
        batch.ids.numel(), places=len(batch.reading(model).whole), past=batch.size * past.prefix,
        replaced=model.n_layers, backward=True,
    )  # fmt: skip
    with (
        torch.enable_grad(),
        where_scored(model),
        model.continue_after(past),
        model.capture(reduce=read, grad=True),
        within_memory(model, load),
    ):
        gradients = torch.autograd.grad(batch.measured(model).sum(), list(seen.values()))
    z = {layer: tensor.detach() for layer, tensor in seen.items()}
    return Differentiated(z, dict(zip(seen, gradients, strict=True)))


@contextmanager
def _graph_without_tensors() -> Iterator[None]:
    """A forward as with a graph, which some kernels round differently, that holds nothing for a backward."""

    def never(_: None) -> Tensor:
        raise AssertionError("there is no backward")

    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(lambda _: None, never):
        yield
