"""Edits of heads written into the weights, so that plain transformers computes what gating computes.

Head h writes z_h @ W_O[h]. Scaling a head scales its rows of W_O. A head that is replaced by a constant writes a
constant, which belongs into the bias of the out-projection; biases of queries, keys and values are part of z.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from headatlas.errors import HeadAtlasError
from headatlas.model.heads import HeadModel

RECORD = "edit.json"  # beside the weights of an edited model: what was changed
# What configurations call the switch that gives the out-projection a bias, and others with it.
BIAS_SWITCHES = ("attention_bias", "use_bias", "bias")


@dataclass(frozen=True)
class EditedWeights:
    """What differs from the weights of `model`: tensors by name, and the configuration."""

    model: HeadModel
    tensors: Mapping[str, Tensor]
    config: Any

    def save(self, folder: Path) -> None:
        """Write model and tokenizer as `from_pretrained` reads them, as safetensors."""
        module = self.model.module
        module.save_pretrained(folder, state_dict={**module.state_dict(), **self.tensors})
        self.config.save_pretrained(folder)  # after the module, which writes its own
        if self.model.tokenizer is not None:
            self.model.tokenizer.save_pretrained(folder)


def edit_weights(model: HeadModel, gates: Tensor, baseline: Tensor | None = None) -> EditedWeights:
    """The weights with which z becomes g z + (1 - g) baseline: gates [layer, head], baseline [layer, head, head_dim].

    A baseline is refused where the architecture has no bias for it.
    """
    check_editable(model)
    touched = (gates != 1).any(-1).nonzero().flatten().tolist()
    config = editable_config(model)
    tensors = {} if baseline is None else _room_for_biases(model, touched, config)
    names = projection_names(model)
    for layer in touched:
        projection, name = model.out_projections[layer], names[layer]
        weight = model.out_weight(layer)
        g = gates[layer].to(weight.device)[:, None, None]
        if baseline is not None:
            constant = torch.einsum(
                "hz,hzd->d", (1 - g[:, 0].double()) * baseline[layer].to(weight.device).double(), weight.double()
            )
            bias = projection.bias if projection.bias is not None else tensors[f"{name}.bias"]
            tensors[f"{name}.bias"] = (bias.double() + constant).to(weight.dtype)
        tensors[f"{name}.weight"] = stored_as(projection, (weight * g.to(weight.dtype)).flatten(0, 1))
    return EditedWeights(model, tensors, config)


def check_editable(model: HeadModel) -> None:
    """Refuse weights that are not plain numbers in memory."""
    for layer, projection in enumerate(model.out_projections):
        weight = projection.weight
        if weight.is_meta or not weight.is_floating_point():
            packed = f"are packed into {model.quantized} bits" if model.quantized else f"are stored as {weight.dtype}"
            what = "lie outside memory" if weight.is_meta else packed
            raise HeadAtlasError(
                f"{model.name} cannot be edited: the weights of layer {layer} {what}. Load it whole and in a "
                "floating-point dtype."
            )


def editable_config(model: HeadModel) -> Any:
    """A copy of the configuration, as `save_pretrained` would complete it."""
    config = copy.deepcopy(model.module.config)
    config.architectures, config.dtype = [type(model.module).__name__], model.dtype
    return config


def build_empty(model: HeadModel, config: Any) -> dict[str, tuple[int, ...]]:
    """The shapes of the weights that the class of the model has with a configuration; nothing is allocated."""
    with torch.device("meta"):
        module = type(model.module)(copy.deepcopy(config))
    return {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()}


def projection_names(model: HeadModel) -> list[str]:
    """Of the out-projections, in the names of the module's weights."""
    names = {id(part): name for name, part in model.module.named_modules()}
    return [names[id(projection)] for projection in model.out_projections]


def stored_as(projection: Any, matrix: Tensor) -> Tensor:
    """An out-projection [heads * head_dim, d_model] the way round in which the module stores it."""
    return (matrix if type(projection).__name__ == "Conv1D" else matrix.T).contiguous()


def _room_for_biases(model: HeadModel, layers: list[int], config: Any) -> dict[str, Tensor]:
    """Biases of zero for what has none, with the switch in `config` that brings them; nothing where all have one."""
    if all(model.out_projections[layer].bias is not None for layer in layers):
        return {}
    present = model.module.state_dict()
    wanted = {f"{name}.bias" for name in projection_names(model)}
    for switch in BIAS_SWITCHES:
        if getattr(config, switch, None) is not False:
            continue
        setattr(config, switch, True)
        shapes = build_empty(model, config)
        if wanted <= set(shapes):
            return {
                name: torch.zeros(shape, dtype=model.dtype, device=model.device)
                for name, shape in shapes.items()
                if name not in present
            }
        setattr(config, switch, False)
    raise HeadAtlasError(
        f"A mean cannot be folded into {model.name}: the out-projection of {model.model_type!r} has no bias, and its "
        "configuration has no switch for one. Use the baseline zero."
    )


def edited_from(folder: str | Path) -> tuple[str, str] | None:
    """Name and fingerprint of the model that an edited checkpoint was made from; None for other models."""
    try:
        original = json.loads((Path(folder).expanduser() / RECORD).read_text())["original"]
        return str(original["name"]), str(original["fingerprint"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
