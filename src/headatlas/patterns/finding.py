"""A statement about maps: before it is judged (`Statement`) and after (`Finding`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from headatlas.stats import Array

Head = tuple[int, int]


@dataclass(frozen=True)
class Finding:
    """One sentence about the maps of an atlas, with the numbers behind it.

    `value` is the statistic and `effect` its size in natural units (docs/patterns.md says which, for each kind). `null`
    says in words what it was compared with. `p` belongs to this statement alone, `p_adjusted` holds for all statements
    of the atlas together, and `supported` is the verdict. Where a statement could not be tested the numbers are None
    and `statement` says why. `heads` are the (layer, head) that the sentence names.
    """

    kind: str
    tasks: tuple[str, ...]
    method: str
    measure: str
    statement: str
    value: float | None
    effect: float | None
    null: str
    p: float | None
    p_adjusted: float | None
    supported: bool
    heads: tuple[Head, ...] = ()


@dataclass(frozen=True)
class Statement:
    """A statistic, the same statistic under its null, and the sentences for both outcomes.

    `draws` holds the statistic under the null. `sides` is 1 where only large values support the claim, and 2 where
    small ones do too. `p` is given where it is known exactly; `observed` and `draws` are then its normal scores.
    """

    tasks: tuple[str, ...]
    claim: str
    denial: str
    value: float
    effect: float
    observed: float = 0.0
    draws: Array = field(default_factory=lambda: np.empty(0))
    sides: int = 1
    p: float | None = None
    heads: Sequence[Head] = ()
