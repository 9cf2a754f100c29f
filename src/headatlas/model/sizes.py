"""How large a model is and what a token costs, from the shapes of its weights alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from headatlas.model.heads import HeadModel

# What configurations call the number of experts of a layer, and of those that a token goes through.
EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts")
CHOSEN = ("num_experts_per_tok", "num_experts_per_token")
COPIES = 4  # of the residual stream that a layer holds for a backward: inputs and outputs of norms, and sums
HEAD_COPIES = 3  # of what the heads write: scaled, replaced, and as the attention kernel holds it


@dataclass(frozen=True)
class Sizes:
    """Of one model. `active` parameters take part in the forward of a token; `matrices` are those of them that it is
    multiplied with in the layers. `outputs` is how many numbers the matrices of one layer write for a token. `item` is
    the size of a number in bytes."""

    parameters: int
    active: int
    matrices: int
    outputs: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    width: int
    vocabulary: int
    item: int

    @property
    def weights(self) -> int:
        """Bytes."""
        return self.parameters * self.item

    @property
    def key_values(self) -> int:
        """Bytes of keys and values for each token."""
        return 2 * self.layers * self.kv_heads * self.head_dim * self.item

    def flops(self, length: float) -> float:
        """Operations for each token of a text of `length` tokens whose last token alone gets logits: multiplication and
        addition for each active weight, queries with keys, weights with values, and the share of the logits."""
        attention = 4 * self.layers * self.heads * self.head_dim * length
        return 2 * self.matrices + attention + 2 * self.vocabulary * self.width / length

    def held(self, tokens: int) -> int:
        """Bytes that the forward of so many tokens holds for a backward: what every matrix of every layer writes,
        copies of the residual stream, and copies of what the heads write."""
        by_layer = self.outputs + COPIES * self.width + HEAD_COPIES * self.heads * self.head_dim
        return tokens * self.layers * by_layer * self.item

    def recorded(self, tokens: int) -> int:
        """Bytes of what enters every layer and of what replaces its heads, while heads are measured one by one."""
        return tokens * self.layers * (self.width + self.heads * self.head_dim) * self.item

    def working(self, tokens: int) -> int:
        """Bytes that a forward without a backward needs at once: one layer."""
        return tokens * (self.outputs + COPIES * self.width) * self.item

    def logits(self, positions: int) -> int:
        """Bytes of logits and log-probabilities, which are float32 whatever the model is."""
        return 2 * 4 * positions * self.vocabulary


def sizes(model: HeadModel) -> Sizes:
    """Counted over the weights; a weight that is used twice counts once."""
    share = _active_share(model.module.config)
    active = matrices = 0.0
    for name, tensor in model.module.named_parameters():
        active += tensor.numel() * (share if "experts" in name.split(".") else 1)
    for _, tensor, part in _matrices(model, share):
        matrices += tensor.numel() * part
    outputs = sum(width * part for width, _, part in _matrices(model, share)) / model.n_layers
    return Sizes(
        parameters=sum(tensor.numel() for tensor in model.module.parameters()),
        active=round(active),
        matrices=round(matrices),
        outputs=round(outputs),
        layers=model.n_layers,
        heads=model.n_heads,
        kv_heads=model.n_kv_heads,
        head_dim=model.head_dim,
        width=model.d_model,
        vocabulary=model.module.get_output_embeddings().weight.shape[0],
        item=torch.empty((), dtype=model.dtype, device="meta").element_size(),
    )


def _active_share(config: Any) -> float:
    """The share of a layer's experts that a token goes through; 1 where there are none."""
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    experts, chosen = (
        next((number for name in names if (number := getattr(text, name, None))), None) for names in (EXPERTS, CHOSEN)
    )
    return chosen / experts if experts and chosen else 1.0


def _matrices(model: HeadModel, share: float) -> Iterator[tuple[int, Tensor, float]]:
    """Of the layers: how many numbers a matrix writes, for each expert; the matrix; the share of it that is active, for
    experts times how many of them write."""
    for layer in model.layers:
        for name, module in layer.named_modules():
            for weight_name, tensor in module.named_parameters(recurse=False):
                if tensor.dim() < 2:
                    continue
                path = [*name.split("."), weight_name]
                yield _width(module, tensor), tensor, share if "experts" in path else 1.0


def _width(module: nn.Module, tensor: Tensor) -> int:
    """Numbers that a matrix writes; of stacked experts all of them together."""
    written = tensor.shape[-1] if type(module).__name__ == "Conv1D" else tensor.shape[-2]
    return written * (tensor.shape[0] if tensor.dim() == 3 else 1)
