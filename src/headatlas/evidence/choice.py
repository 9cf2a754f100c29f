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
    """As many other heads in the same layers. Where a layer has too few others, the nearest layers lend theirs."""
    layers, heads = shape
    free = {layer: [(layer, h) for h in range(heads) if (layer, h) not in chosen] for layer in range(layers)}
    drawn: set[Head] = set()
    missing: list[int] = []
    for layer, count in sorted(Counter(layer for layer, _ in chosen).items()):
        order = rng.permutation(len(free[layer]))[:count]
        drawn.update(free[layer][i] for i in order)
        missing += [layer] * (count - len(order))
    for layer in missing:
        others = [head for layer_heads in free.values() for head in layer_heads if head not in drawn]
        if not others:
            break
        nearest = min(abs(other - layer) for other, _ in others)
        near = [head for head in others if abs(head[0] - layer) == nearest]
        drawn.add(near[rng.integers(len(near))])
    return frozenset(drawn)
