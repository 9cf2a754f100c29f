"""Weights of 8 or 4 bits, through bitsandbytes as transformers loads it; and such a matrix as plain numbers again."""

from __future__ import annotations

import importlib.util
import logging
from typing import Any

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from headatlas.errors import HeadAtlasError, unknown

LIBRARY = "bitsandbytes"
BITS = {"8": 8, "4": 4}
PACKED = ("Int8Params", "Params4bit")  # what bitsandbytes calls parameters of 8 and of 4 bits
BLOCK = 64  # numbers of 4 bits that share a scale, which is a float32


def checked_bits(bits: int | str) -> int:
    if str(bits) not in BITS:
        raise unknown("number of bits for `quantize`", str(bits), BITS)
    return BITS[str(bits)]


def quantization(bits: int | str, dtype: Any) -> Any:
    """What transformers needs to know to load weights in so many bits; matrices are unpacked to `dtype`."""
    eight = checked_bits(bits) == BITS["8"]
    if importlib.util.find_spec(LIBRARY) is None:
        raise HeadAtlasError(
            f"`quantize` {bits} was asked for, but {LIBRARY} is not installed: pip install headatlas[quantize]"
        )
    from transformers import BitsAndBytesConfig

    logging.getLogger(LIBRARY).setLevel(logging.ERROR)  # it says for each matrix that it rounds
    if eight:
        return BitsAndBytesConfig(load_in_8bit=True)
    unpacked = dtype if isinstance(dtype, torch.dtype) else torch.bfloat16
    return BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=unpacked)


def leave_as_loaded(module: nn.Module) -> None:
    """On some processors the first forward would pack weights of 4 bits in another way, and a model would have another
    fingerprint after it."""
    for part in module.modules():
        if hasattr(part, "support_avx512bf16_for_cpu"):
            part.support_avx512bf16_for_cpu = False  # type: ignore[assignment]


def bits_of(module: nn.Module) -> int | None:
    """8 or 4 for a module whose weights bitsandbytes has packed."""
    return next((bits for bits in BITS.values() if getattr(module, f"is_loaded_in_{bits}bit", False)), None)


def unpacked(projection: Any, dtype: torch.dtype) -> Tensor:
    """The weight of a linear map as the numbers that it stands for."""
    weight: Tensor = projection.weight
    if type(weight).__name__ not in PACKED:
        return weight
    from transformers.integrations.bitsandbytes import dequantize_bnb_weight

    return dequantize_bnb_weight(weight, getattr(projection, "state", None)).to(dtype)


def shape_of(tensor: Tensor) -> torch.Size:
    """The shape of the matrix, also where it is packed."""
    state = getattr(tensor, "quant_state", None)
    return tensor.shape if state is None else torch.Size(state.shape)


def packed_bytes(module: nn.Module, tensor: Tensor, bits: int | None) -> int:
    """Bytes of a parameter of a module that is, or will be, loaded in so many bits: numbers with their scales."""
    if bits is None or tensor.dim() != 2 or not isinstance(module, nn.Linear | Conv1D):
        return tensor.nbytes
    numbers, rows = shape_of(tensor).numel(), shape_of(tensor)[0]
    return numbers + 4 * rows if bits == BITS["8"] else numbers // 2 + 4 * (numbers // BLOCK)
