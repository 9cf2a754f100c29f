"""Small pieces of English, and the order in which they come, for all generators."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def joined(items: Sequence[str], joint: str = "and") -> str:
    """The items in a row, as in "red, green and blue"."""
    return f"{', '.join(items[:-1])} {joint} {items[-1]}" if len(items) > 1 else items[0]


def capital(text: str) -> str:
    """The text with a capital first letter; all others stay as they are."""
    return text[0].upper() + text[1:]


def shuffled(rng: random.Random, items: Sequence[T]) -> list[T]:
    """All items in random order, as a new list."""
    return rng.sample(items, len(items))
