"""Whole groups of heads that share keys and values, cut out of the weights.

A configuration has one number of heads for all layers, so every layer loses as many groups. The size of a head must be
an entry of its own: where it is the hidden size over the number of heads, fewer heads would be larger heads.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch
from torch import Tensor

from headatlas.errors import HeadAtlasError, UsageError
from headatlas.model.editing import EditedWeights, build_empty, check_editable, editable_config, projection_names
from headatlas.model.families import family_of
from headatlas.model.heads import HeadModel
from headatlas.wording import head_name

# Projections whose rows belong to heads: heads per group of the parts that they hold, None for all query heads of it.
BY_HEAD: dict[str, tuple[int | None, ...]] = {
    "q_proj": (None,),
    "k_proj": (1,),
    "v_proj": (1,),
    "qkv_proj": (None, 1, 1),
}


def prune_weights(model: HeadModel, heads: Collection[tuple[int, int]]) -> EditedWeights:
    """The weights without these heads; refused, with the reason, where the architecture cannot do without them."""
    check_editable(model)
    remaining = _remaining_groups(model, heads)
    config = _smaller_config(model, len(remaining[0]))
    shapes = _shapes(model, config)
    tensors = {}
    present = model.module.state_dict()
    for layer, name in enumerate(projection_names(model)):
        attention, _, out = name.rpartition(".")
        for key in (key for key in present if key.startswith(f"{attention}.")):
            cut = _cut(model, key.removeprefix(f"{attention}.").split("."), out, present[key], remaining[layer])
            if cut is not None:
                tensors[key] = cut
    for key, shape in shapes.items():
        if tuple(tensors.get(key, present.get(key, torch.empty(0))).shape) != shape:
            raise _not_separable(model, f"{key!r} mixes all heads of a layer")
    return EditedWeights(model, tensors, config)


def _remaining_groups(model: HeadModel, heads: Collection[tuple[int, int]]) -> list[list[int]]:
    """For each layer the groups that stay; heads must make up whole groups, as many in every layer."""
    remaining = []
    for layer in range(model.n_layers):
        gone = {head for of, head in heads if of == layer}
        for group in model.kv_groups:
            if 0 < len(gone & set(group)) < len(group):
                names = ", ".join(head_name(layer, head) for head in group)
                raise UsageError(
                    f"Heads that share keys and values are pruned together: of {names} only "
                    f"{', '.join(head_name(layer, head) for head in sorted(gone & set(group)))} was named."
                )
        remaining.append([number for number, group in enumerate(model.kv_groups) if group[0] not in gone])
    counts = {len(groups) for groups in remaining}
    if len(counts) > 1:
        raise UsageError(
            f"The configuration of {model.model_type!r} has one number of heads for all layers, so every layer must "
            f"lose as many groups; what was named leaves between {min(counts)} and {max(counts)} of "
            f"{model.n_kv_heads}. Mask the heads instead, or name as many groups in every layer (weakest:1)."
        )
    if counts in ({0}, {model.n_kv_heads}):
        raise UsageError(f"Pruning must leave some of the {model.n_kv_heads} groups of each layer, and remove some.")
    return remaining


def _smaller_config(model: HeadModel, groups: int) -> Any:
    config, family = editable_config(model), family_of(model.module.config)
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    if not isinstance(family.kv_heads, str):
        raise _not_separable(model, "its number of key-value heads follows from other entries")
    values = {
        family.heads: groups * (model.n_heads // model.n_kv_heads),
        family.kv_heads: groups,
        family.head_dim: model.head_dim,
    }
    for name, value in values.items():
        setattr(text, name, value)
    return config


def _shapes(model: HeadModel, config: Any) -> dict[str, tuple[int, ...]]:
    """The shapes that the smaller configuration asks for, once the class accepts it."""
    try:
        type(config).from_dict(config.to_dict())  # what loading will do
        shapes = build_empty(model, config)
    except Exception as error:  # every class has conditions of its own, with errors of its own
        reason = " ".join(str(error).split()).rstrip(".")[-200:]
        raise _not_separable(model, f"its configuration refuses so many heads ({reason})") from None
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    width = getattr(text, family_of(config).heads) * model.head_dim
    for projection, name in zip(model.out_projections, projection_names(model), strict=True):
        rows = shapes[f"{name}.weight"][0 if type(projection).__name__ == "Conv1D" else 1]
        if rows != width:
            raise _not_separable(model, "the size of its heads is the hidden size over their number")
    return shapes


def _cut(model: HeadModel, path: list[str], out: str, tensor: Tensor, groups: list[int]) -> Tensor | None:
    """A weight or bias of the attention without the other groups; None where it does not differ by head."""
    module, kind = path[0], path[-1]
    share = model.n_heads // model.n_kv_heads
    if module == out:
        if kind != "weight":
            return None
        columns = tensor.unflatten(1, (model.n_kv_heads, share * model.head_dim))  # Linear: [d_model, heads]
        return columns[:, groups].flatten(1).contiguous()
    if module not in BY_HEAD:
        return None
    sizes = [size or share for size in BY_HEAD[module]]
    parts = tensor.split([model.n_kv_heads * size * model.head_dim for size in sizes])
    cut = [part.unflatten(0, (model.n_kv_heads, -1))[groups].flatten(0, 1) for part in parts]
    return torch.cat(cut).contiguous()


def _not_separable(model: HeadModel, reason: str) -> HeadAtlasError:
    return HeadAtlasError(f"Heads of {model.model_type!r} cannot be pruned: {reason}. Mask them instead.")
