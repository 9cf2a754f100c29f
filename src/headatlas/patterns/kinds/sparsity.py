"""Whether the mass of a map lies on few heads."""

from __future__ import annotations

import numpy as np

from headatlas.patterns.finding import Statement
from headatlas.patterns.kind import Kind
from headatlas.patterns.nulls import DENSE, Nulls
from headatlas.stats import Array
from headatlas.wording import decimal


def gini(size: Array) -> Array:
    """Gini coefficient over the last axis: 0 when all heads are equal, towards 1 when one holds everything."""
    ordered = np.sort(size, axis=-1)
    n = ordered.shape[-1]
    ranks = np.arange(1, n + 1, dtype=ordered.dtype)
    total = ordered.sum(axis=-1, dtype=float)
    weighted = (ordered * ranks).sum(axis=-1, dtype=float)
    return 2 * weighted / (n * np.where(total > 0, total, 1)) - (n + 1) / n


def heads_holding(size: Array, share: float) -> int:
    """The smallest number of heads that hold this share of the mass."""
    ordered = np.sort(size)[::-1]
    return int(np.searchsorted(np.cumsum(ordered), share * ordered.sum() * (1 - 1e-12)) + 1)


def sparsity(nulls: Nulls) -> list[Statement]:
    task, size = nulls.map.task, nulls.map.size
    observed = float(gini(size))
    draws = gini(np.abs(nulls.dense()))
    half, four_fifths, nine_tenths = (heads_holding(size, share) for share in (0.5, 0.8, 0.9))
    numbers = (
        f"{half} of {len(size)} heads hold half of the mass (80 %: {four_fifths}, 90 %: {nine_tenths}); Gini "
        f"{decimal(observed)}, {decimal(draws.mean())} expected"
    )
    return [
        Statement(
            (task,),
            f"{task} is sparser than if all heads took part alike: {numbers}.",
            f"{task} is not shown to be sparser than if all heads took part alike: {numbers}.",
            value=observed,
            effect=observed - float(draws.mean()),
            observed=observed,
            draws=draws,
        )
    ]


SPARSITY = Kind(
    name="sparsity",
    question="Do few heads hold most of the mass?",
    null=DENSE,
    answer=sparsity,
)
