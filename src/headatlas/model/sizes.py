"""How large a model is and what a token costs, from the shapes of its weights alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from headatlas.model.forwards import position_wise
from headatlas.model.heads import HeadModel
from headatlas.model.quantizing import BITS, packed_bytes, shape_of

# What configurations call the number of experts of a layer, and of those that a token goes through.
EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts")
CHOSEN = ("num_experts_per_tok", "num_experts_per_token")


@dataclass(frozen=True)
class Sizes:
    """Of one model. `active` parameters take part in the forward of a token; `matrices` are those of them that it is
    multiplied with in the layers. `mlp` is how many numbers the MLP of one layer has inside for a token: what its
    matrices write but the last, and what that reads. `norms` are those of one layer. `item` is the size of a number in
    bytes, `weights` that of all of them. Of weights of 4 bits one matrix at a time is `unpacked` to so many numbers."""

    parameters: int
    active: int
    matrices: int
    mlp: int
    norms: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    width: int
    vocabulary: int
    item: int
    weights: int
    unpacked: int

    @property
    def written(self) -> int:
        """Numbers that the heads of one layer write for a token."""
        return self.heads * self.head_dim

    @property
    def shared(self) -> int:
        """Numbers in the keys of one layer for a token, and as many in its values."""
        return self.kv_heads * self.head_dim

    @property
    def key_values(self) -> int:
        """Bytes of keys and values for each token."""
        return 2 * self.layers * self.shared * self.item

    def flops(self, length: float) -> float:
        """Operations for each token of a text of `length` tokens whose last token alone gets logits: multiplication and
        addition for each active weight, queries with keys, weights with values, and the share of the logits."""
        attention = 4 * self.layers * self.written * length
        return 2 * self.matrices + attention + 2 * self.vocabulary * self.width / length


def sizes(model: HeadModel) -> Sizes:
    """Counted over the weights; a weight that is used twice counts once."""
    share = _active_share(model.module.config)
    active = matrices = 0.0
    for name, tensor in model.module.named_parameters():
        active += shape_of(tensor).numel() * (share if "experts" in name.split(".") else 1)
    for layer in model.layers:
        matrices += sum(shape.numel() * part for shape, part in _matrices(layer, share))
    return Sizes(
        parameters=sum(shape_of(tensor).numel() for tensor in model.module.parameters()),
        active=round(active),
        matrices=round(matrices),
        mlp=max(_inside_mlp(model, layer, share) for layer in range(model.n_layers)),
        norms=max(1, *(_norms(layer, model.d_model) for layer in model.layers)),  # some have no weights
        layers=model.n_layers,
        heads=model.n_heads,
        kv_heads=model.n_kv_heads,
        head_dim=model.head_dim,
        width=model.d_model,
        vocabulary=model.module.get_output_embeddings().weight.shape[0],
        item=model.dtype.itemsize,
        weights=_bytes(model),
        unpacked=_unpacked(model, share) if model.quantized == BITS["4"] else 0,
    )


def _active_share(config: Any) -> float:
    """The share of a layer's experts that a token goes through; 1 where there are none."""
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    experts, chosen = (
        next((number for name in names if (number := getattr(text, name, None))), None) for names in (EXPERTS, CHOSEN)
    )
    return chosen / experts if experts and chosen else 1.0


def _bytes(model: HeadModel) -> int:
    """Of all weights, each once. Packed are matrices of the layers, not embeddings and logits."""
    inside = {id(part) for layer in model.layers for part in layer.modules()}
    owners = {id(p): (module, p) for module in model.module.modules() for p in module.parameters(recurse=False)}
    return sum(
        packed_bytes(module, tensor, model.quantized if id(module) in inside else None)
        for module, tensor in owners.values()
    )


def _unpacked(model: HeadModel, share: float) -> int:
    return max(shape.numel() for layer in model.layers for shape, _ in _matrices(layer, share))


def _matrices(part: nn.Module, share: float) -> Iterator[tuple[torch.Size, float]]:
    """The shapes of the matrices of a layer or of a part of it, each with the share of it that is active."""
    for name, tensor in part.named_parameters():
        if tensor.dim() > 1:
            yield shape_of(tensor), share if "experts" in name.split(".") else 1.0


def _inside_mlp(model: HeadModel, layer: int, share: float) -> int:
    """For a token. All matrices together read and write that, and the width once each."""
    inside = 0.0
    for part in position_wise(model.layers[layer], model.out_projections[layer])[1:]:
        for shape, active in _matrices(part, share):
            experts = active * (shape[0] if len(shape) == 3 else 1)
            inside += experts * (shape[-1] + shape[-2] - model.d_model)
    return round(inside)


def _norms(layer: nn.Module, width: int) -> int:
    """Modules whose weight is one number for each entry of the residual stream."""
    weights = (getattr(module, "weight", None) for module in layer.modules())
    return sum(isinstance(weight, Tensor) and weight.shape == (width,) for weight in weights)
