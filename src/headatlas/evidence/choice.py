"""Which heads a map chooses, and which others they are compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from headatlas.atlas.records import Head
from headatlas.stats import Array, elbow

Heads = frozenset[Head]
INTACT: Heads = frozenset()  # no head is removed
PATIENCE = 20  # tries for every random set that is wanted, where some come out the same


@dataclass(frozen=True)
class Ranking:
    """The measured heads of a map: `first` in the order of their rank, `weakest` by the size of their value."""

    first: tuple[Head, ...]
    weakest: tuple[Head, ...]
    elbow: int

    @classmethod
    def from_map(cls, ranked: Sequence[Head], grid: Array) -> Ranking:
        """From the heads in the order of their rank, and their values [layer, head]; NaN was not measured."""
        heads = [(int(layer), int(head)) for layer, head in np.argwhere(np.isfinite(grid))]
        values = np.array([grid[head] for head in heads])
        by_size = np.argsort(np.abs(values), kind="stable")
        return cls(tuple(ranked), tuple(heads[i] for i in by_size), elbow(values))

    def top(self, k: int) -> Heads:
        return frozenset(self.first[:k])

    def lowest(self, k: int) -> Heads:
        return frozenset(self.weakest[:k])


def matched(chosen: Collection[Head], shape: tuple[int, int], rng: np.random.Generator) -> Heads:
    """As many random heads in each layer as were chosen there, of all its heads, chosen ones included.

    If the map says nothing, the chosen heads are themselves such a draw: only then do chosen and drawn sets compare.
    """
    counts = Counter(layer for layer, _ in chosen)
    return frozenset(
        (layer, int(head)) for layer, count in sorted(counts.items()) for head in rng.permutation(shape[1])[:count]
    )


def different_draws(chosen: Heads, shape: tuple[int, int], rng: np.random.Generator, count: int) -> list[Heads]:
    """Up to `count` different sets of `matched` heads; the chosen one may be among them. Of a few heads there are only
    so many; where all heads of their layers were chosen there is nothing to compare with."""
    drawn: dict[Heads, None] = {}
    for _ in range(PATIENCE * count):
        if len(drawn) == count:
            break
        drawn[matched(chosen, shape, rng)] = None
    return [] if set(drawn) == {chosen} else list(drawn)
