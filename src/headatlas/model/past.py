"""Keys and values of a prefix, as the caches of transformers hand them to attention, shared by many rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer


class _Prefix(DynamicLayer):
    """Keys and values [prefix row, kv_head, pos, head_dim] of one layer. They are repeated when attention reads them,
    and what follows them is not kept: at any time a single layer takes memory for all rows."""

    def __init__(self, keys: Tensor, values: Tensor, for_rows: bool) -> None:
        super().__init__()
        self.lazy_initialization(keys, values)
        self.keys, self.values, self.for_rows = keys, values, for_rows

    def update(self, keys: Tensor, values: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        return self._followed_by(self.keys, keys), self._followed_by(self.values, values)

    def _followed_by(self, prefix: Tensor, new: Tensor) -> Tensor:
        times = len(new) // len(prefix)
        repeated = prefix.repeat_interleave(times, 0) if self.for_rows else prefix.repeat(times, 1, 1, 1)
        return torch.cat([repeated, new], -2)


def read_only_cache(layers: Iterable[tuple[tuple[Tensor, Tensor], bool]]) -> DynamicCache:
    """A cache of (keys, values) of each layer. The rows of a forward are copies of those rows, all of them below each
    other; or, where true, each row many times, copy by copy."""
    cache = DynamicCache()
    cache.layers = [_Prefix(keys, values, for_rows) for (keys, values), for_rows in layers]
    return cache
