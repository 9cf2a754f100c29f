"""What two fitted gates say about a head: it facilitates, interferes, or is irrelevant; and how seeds are joined.

Causal Head Gating (arXiv 2505.13737). `plus` is the gate fitted while heads are encouraged to stay, `minus` the gate
fitted while they are encouraged to go. A head that stays under both is needed; one that goes under both does harm; one
that does what it is encouraged to do does not matter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from headatlas.stats import Array

ROLES = ("facilitation", "interference", "irrelevance")
MEASURES = (*ROLES, "gate_plus", "gate_minus")
OPEN = 0.5  # a gate above this counts as open, a role above it as held


def roles(plus: ArrayLike, minus: ArrayLike) -> dict[str, Array]:
    """The measures of heads from their two gates, of any shape."""
    up, down = np.asarray(plus, dtype=np.float64), np.asarray(minus, dtype=np.float64)
    return {
        "facilitation": down,
        "interference": 1 - up,
        "irrelevance": up * (1 - down),
        "gate_plus": up,
        "gate_minus": down,
    }


def calls(plus: ArrayLike, minus: ArrayLike) -> NDArray[np.int64]:
    """The role of every head as a number: 0 irrelevant, 1 facilitating, 2 interfering, 3 both."""
    return (np.asarray(minus) > OPEN) + 2 * (np.asarray(plus) <= OPEN)


def always(stack: ArrayLike) -> Array:
    """What every seed says of a head: the minimum over the first axis of [seed, ...]."""
    return np.asarray(stack, dtype=np.float64).min(axis=0)


def at_least_once(stack: ArrayLike) -> Array:
    """What some seed says of a head ("Any"): the maximum over the first axis of [seed, ...]."""
    return np.asarray(stack, dtype=np.float64).max(axis=0)
