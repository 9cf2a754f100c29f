"""The residual stream of a planted model, cut into spaces that hold one kind of thing each."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor


class Residual:
    """Named spaces of a residual stream of `width` dimensions: `space["token"]` is [size, width], orthonormal rows.

    Directions are random, so that no coordinate means anything by itself, and orthogonal to the vector of ones:
    LayerNorm then subtracts nothing and does the same as RMSNorm. What no space takes is `junk`.
    """

    def __init__(self, width: int, sizes: Mapping[str, int], generator: torch.Generator):
        self.width = width
        random = torch.randn(width, width, generator=generator, dtype=torch.float64)
        random[:, 0] = 1
        basis = torch.linalg.qr(random).Q.T[1:].float()  # the first row is the vector of ones
        free = len(basis) - sum(sizes.values())
        self._spaces = dict(zip([*sizes, "junk"], basis.split([*sizes.values(), free]), strict=True))

    def __getitem__(self, name: str) -> Tensor:
        return self._spaces[name]
