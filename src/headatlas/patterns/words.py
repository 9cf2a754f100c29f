"""Numbers and heads as words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headatlas.patterns.finding import Head
from headatlas.stats import Array

MINUS = "\u2212"


def heads_in_words(heads: Sequence[Head], most: int = 6) -> str:
    """`L3H1, L7H0 and 4 more`."""
    named = ", ".join(f"L{layer}H{head}" for layer, head in heads[:most])
    return named + (f" and {len(heads) - most} more" if len(heads) > most else "")


def band(draws: Array, digits: int = 1) -> str:
    """The middle 95 % of null draws, as `0.1 to 0.4`."""
    low, high = np.quantile(draws, [0.025, 0.975])
    return f"{decimal(low, digits)} to {decimal(high, digits)}"


def decimal(value: float, digits: int = 1) -> str:
    """A true minus sign, and none before what rounds to zero."""
    text = f"{value:.{digits}f}"
    return text.replace("-", "" if float(text) == 0 else MINUS)


def signed(value: float, digits: int = 1) -> str:
    """The same with a plus sign before what is above zero."""
    text = decimal(value, digits)
    return text if text.startswith(MINUS) or float(text) == 0 else f"+{text}"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 or share == 0 else f"{100 * share:.1f} %"


def slightly(effect: float) -> str:
    """A shift may be sure and yet too small to matter: below a fiftieth of the whole it is called slight."""
    return "slightly " if abs(effect) < 0.02 else ""


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
