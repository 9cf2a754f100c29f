"""Where each architecture keeps its layers and its attention out-projection. Data, and a function to add more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from headatlas.errors import HeadAtlasError, unknown


@dataclass(frozen=True)
class Family:
    """The layout of one architecture; paths are dotted attribute names.

    `layers` leads from the causal-LM module to its list of blocks, `out_projection` from a block to the linear map
    that mixes the heads. The other fields name configuration entries, or compute the number from the configuration; a
    missing `head_dim` means hidden size / heads, a missing `kv_heads` that every query head has its own.
    `adds_directly` says whether the residual stream receives what the out-projection gives as it is, and keeps it up to
    the final norm: not so where a norm or a factor comes in between.
    """

    layers: str
    out_projection: str
    heads: str = "num_attention_heads"
    kv_heads: str | Callable[[Any], int] = "num_key_value_heads"
    head_dim: str = "head_dim"
    adds_directly: bool | Callable[[Any], bool] = True


def _falcon_kv_heads(config: Any) -> int:
    """The 7B layout shares one key-value head, whatever `num_kv_heads` says."""
    if config.new_decoder_architecture:
        return config.num_kv_heads
    return 1 if config.multi_query else config.num_attention_heads


_LLAMA = Family("model.layers", "self_attn.o_proj")
_NOT_DIRECTLY = replace(_LLAMA, adds_directly=False)  # a norm after attention, or a factor

FAMILIES: dict[str, Family] = {
    "llama": _LLAMA,  # also Yi, SmolLM, SmolLM2, TinyLlama, Vicuna: they carry this model type
    "mistral": _LLAMA,
    "qwen2": _LLAMA,
    "qwen3": _LLAMA,
    "gemma": _LLAMA,
    "gemma2": _NOT_DIRECTLY,
    "gemma3_text": _NOT_DIRECTLY,
    "phi3": _LLAMA,
    "olmo": _LLAMA,
    "olmo2": _NOT_DIRECTLY,
    "granite": _NOT_DIRECTLY,
    "starcoder2": _LLAMA,
    "stablelm": _LLAMA,
    "mixtral": _LLAMA,
    "Yi": _LLAMA,  # the first Yi checkpoints; later ones call themselves llama
    "qwen2_moe": _LLAMA,
    "qwen3_moe": _LLAMA,
    "smollm3": _LLAMA,
    "cohere": _LLAMA,
    "gemma3": Family("model.language_model.layers", "self_attn.o_proj", adds_directly=False),
    "phi": Family("model.layers", "self_attn.dense"),
    "opt": Family(
        "model.decoder.layers", "self_attn.out_proj", adds_directly=lambda config: config.do_layer_norm_before
    ),
    "gpt2": Family("transformer.h", "attn.c_proj"),
    "gpt_neo": Family("transformer.h", "attn.attention.out_proj"),
    "gptj": Family("transformer.h", "attn.out_proj"),
    "gpt_neox": Family("gpt_neox.layers", "attention.dense"),
    "bloom": Family("transformer.h", "self_attention.dense"),
    "falcon": Family("transformer.h", "self_attention.dense", kv_heads=_falcon_kv_heads),
}


def register_family(model_type: str, family: Family) -> None:
    """Teach headatlas a layout. `model_type` is the one in the model's configuration.

    >>> register_family("my_llama", Family(layers="model.layers", out_projection="self_attn.o_proj"))
    """
    FAMILIES[model_type] = family


def alias(model_type: str, like: str) -> None:
    """Declare that `model_type` has the layout of an architecture that is already known."""
    if like not in FAMILIES:
        raise unknown("family", like, FAMILIES)
    register_family(model_type, FAMILIES[like])


def family_of(config: Any) -> Family:
    """The layout for a configuration; an unknown architecture is an error, never a guess."""
    model_type = getattr(config, "model_type", None)
    if model_type in FAMILIES:
        return FAMILIES[model_type]
    raise HeadAtlasError(
        f"The architecture {model_type!r} is not known to headatlas: where its layers and its attention out-projection "
        "are is missing. Register it: headatlas.register_family("
        f"{model_type!r}, headatlas.Family(layers='model.layers', out_projection='self_attn.o_proj')) with the paths "
        f"of your model. Known: {', '.join(FAMILIES)}."
    )
