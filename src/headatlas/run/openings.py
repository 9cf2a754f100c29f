"""Texts that begin alike, each under a mask of its own: the opening is run once for each mask.

The steps of a chain are such texts: the story is the opening of every prompt, whatever the model answered so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from headatlas.model.heads import HeadModel
from headatlas.model.partial import LayerInputs
from headatlas.run.encoding import common_prefix
from headatlas.run.interventions import FORWARD_TOKENS


@dataclass(frozen=True)
class Opening:
    """`tokens` are how the texts begin; `inputs` has their keys and values under each mask."""

    tokens: tuple[int, ...] = ()
    inputs: LayerInputs | None = None

    def shared(self, texts: Iterable[Sequence[int]]) -> int:
        """How much of it all texts begin with; at least one token of each is left to run."""
        return min((min(common_prefix(self.tokens, text), len(text) - 1) for text in texts), default=0)

    def of(self, masks: Sequence[int] | Tensor, length: int) -> LayerInputs:
        """Its first tokens under some of the masks, one row for each."""
        if self.inputs is None or not length:
            return LayerInputs()
        rows = torch.as_tensor(masks)
        past = [(keys[rows, :, :length], values[rows, :, :length]) for keys, values in self.inputs.past]
        return LayerInputs(length, past)


@torch.inference_mode()
def run_opening(model: HeadModel, tokens: Sequence[int], gates: Tensor, baseline: Tensor | None) -> Opening:
    """Tokens under each mask of gates [mask, layer, head]; nothing for a model whose forwards cannot share it."""
    if not tokens or not model.sharing.prefix:
        return Opening()
    ids, room = torch.tensor([tokens]), max(1, FORWARD_TOKENS // len(tokens))
    parts = []
    for some in gates.split(room):
        with model.gate(some, baseline):
            parts.append(model.record_prefix(ids.repeat(len(some), 1)).past)
    past = [
        (torch.cat([keys for keys, _ in layer]), torch.cat([values for _, values in layer]))
        for layer in zip(*parts, strict=True)
    ]
    return Opening(tuple(tokens), LayerInputs(len(tokens), past))


def tokens_alike(texts: Sequence[list[int]]) -> list[int]:
    """What all texts begin with, less its last token: where a text goes on, a tokenizer may split that differently."""
    first = min(texts)
    return first[: max(0, common_prefix(first, max(texts)) - 1)]
