"""The same weights in float32, for a while: what does a model say without the rounding of its own dtype?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

import torch

from headatlas.errors import HeadAtlasError

if TYPE_CHECKING:
    from headatlas.model.heads import HeadModel

HALF = (torch.bfloat16, torch.float16)


def is_rounded(model: HeadModel) -> bool:
    """Whether the model computes in less than float32."""
    return model.dtype in HALF


@contextmanager
def in_float32(model: HeadModel) -> Iterator[None]:
    """Weights and buffers of half precision as float32, and back: every number of half precision is one of float32, so
    the model is afterwards the same bits. Takes twice the memory meanwhile."""
    tensors = [t for t in chain(model.module.parameters(), model.module.buffers()) if t.dtype in HALF]
    if model.quantized:
        raise HeadAtlasError(f"Weights of {model.name} are packed into {model.quantized} bits, for any dtype.")
    if any(tensor.is_meta for tensor in tensors):
        raise HeadAtlasError(f"Weights of {model.name} are not in memory, so it cannot run in float32.")
    changed: list[tuple[torch.Tensor, torch.dtype]] = []
    try:
        for tensor in tensors:
            changed.append((tensor, tensor.dtype))
            tensor.data = tensor.data.float()
        yield
    finally:
        for tensor, dtype in changed:
            tensor.data = tensor.data.to(dtype)
