"""Phrases that several kinds of statements share."""

from __future__ import annotations

import numpy as np

from headatlas.stats import LEVEL, Array
from headatlas.wording import interval

SLIGHT = 0.02


def null_range(draws: Array, digits: int = 1) -> str:
    """The middle 95 % of null draws, as `0.1 to 0.4`."""
    low, high = np.quantile(draws, [LEVEL / 2, 1 - LEVEL / 2])
    return interval(low, high, digits)


def slightly(effect: float) -> str:
    """A shift may be certain and yet too small to matter: below a fiftieth of the whole it is called slight."""
    return "slightly " if abs(effect) < SLIGHT else ""
