"""Several seeds of one map in one picture: what every seed says of a head (Always) and what some seed says (Any).

For measures from 0 to 1 these are the minimum and the maximum, as in `methods.gate.roles`. Signed measures follow the
same idea: Always is the value nearest to zero, and zero where seeds disagree in sign; Any is the value farthest from
zero. Each of them, except zero, is the value of one seed, so one number per head says which.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headatlas.errors import HeadAtlasError
from headatlas.stats import Array

UNMEASURED, ZERO = 255, 254  # instead of the index of a seed

Choice = NDArray[np.uint8]  # for every head the index of a seed, or one of the two above


@dataclass(frozen=True)
class Joined:
    """Which seed gives the least and the most of every head, and which one Always and Any take."""

    least: Choice
    most: Choice
    always: Choice
    any: Choice


def join(stack: Array) -> Joined:
    """From values [seed, head]; NaN where a seed did not measure a head."""
    if len(stack) > ZERO:
        raise HeadAtlasError(f"A map has {len(stack)} seeds; the page can show up to {ZERO}.")
    missing = np.isnan(stack).all(axis=0)
    least = np.where(np.isnan(stack), np.inf, stack).argmin(axis=0)
    most = np.where(np.isnan(stack), -np.inf, stack).argmax(axis=0)
    lowest, highest = take(stack, least), take(stack, most)
    with np.errstate(invalid="ignore"):
        nearest = np.where(lowest >= 0, least, np.where(highest <= 0, most, ZERO))
        farthest = np.where(-lowest > highest, least, most)
    choices = (np.where(missing, UNMEASURED, choice) for choice in (least, most, nearest, farthest))
    return Joined(*(choice.astype(np.uint8) for choice in choices))


def take(stack: Array, choice: NDArray[np.integer]) -> Array:
    """The values [head] that a choice takes from [seed, head]."""
    values: Array = stack[np.where(choice >= ZERO, 0, choice), np.arange(stack.shape[1])]
    return np.where(choice == UNMEASURED, np.nan, np.where(choice == ZERO, 0.0, values))
