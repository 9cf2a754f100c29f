"""Which heads a map chooses, and which others they are compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from headatlas.run.context import Head
from headatlas.stats import Array, elbow

Heads = frozenset[Head]


@dataclass(frozen=True)
class Ranking:
    """The measured heads of a map: `strongest` by value (those that help the task most first), `weakest` by size."""

    strongest: tuple[Head, ...]
    weakest: tuple[Head, ...]
    elbow: int

    @classmethod
    def of(cls, grid: Array) -> Ranking:
        """From a map [layer, head]; heads that were not measured are NaN and take no part."""
        heads = [(int(layer), int(head)) for layer, head in np.argwhere(np.isfinite(grid))]
        values = np.array([grid[head] for head in heads])
        strongest = np.argsort(-values, kind="stable")
        weakest = np.argsort(np.abs(values), kind="stable")
        return cls(tuple(heads[i] for i in strongest), tuple(heads[i] for i in weakest), elbow(values))

    def top(self, k: int) -> Heads:
        return frozenset(self.strongest[:k])

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
        others = [head for own in free.values() for head in own if head not in drawn]
        if not others:
            break
        nearest = min(abs(other - layer) for other, _ in others)
        near = [head for head in others if abs(head[0] - layer) == nearest]
        drawn.add(near[rng.integers(len(near))])
    return frozenset(drawn)
