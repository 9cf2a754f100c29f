"""Do independent starts find the same heads? Overlap of circuits against chance, and how many are disjoint.

A circuit is the set of heads whose facilitation is above 0.5 in one seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from headatlas.atlas.records import Diagnostic

PERMUTATIONS = 2000
SEED = 13


@dataclass(frozen=True)
class Consistency:
    """What several circuits of one task have in common.

    `counts` [layer * head]: in how many seeds a head facilitates. `sizes` [seed]. `shared` heads are in all circuits,
    `shared_share` is their number over the mean size. `jaccard` holds the overlap of each pair of seeds; `mean` is its
    mean, `chance` what random circuits of these sizes give on average, `band` where the mean of 95 % of random
    circuits lies when every layer keeps its number of heads. `sufficient` counts the circuits that are enough alone,
    `disjoint` how many of those can be chosen without any two sharing a head.
    """

    counts: NDArray[np.int64]
    shape: tuple[int, int]
    sizes: NDArray[np.int64]
    shared: int
    shared_share: float
    jaccard: dict[tuple[int, int], float]
    mean: float
    chance: float
    band: tuple[float, float]
    sufficient: int
    disjoint: int

    def diagnostics(self, method: str, task: str) -> list[Diagnostic]:
        """The numbers as rows of the table; `facilitating_seeds` has one per head, `jaccard` one per pair of seeds."""

        def entry(metric: str, value: float, seed: int = 0, **columns: float) -> Diagnostic:
            return Diagnostic(method, metric, float(value), task, seed, **columns)  # type: ignore[arg-type]

        entries = [
            entry("facilitating_seeds", count, layer=i // self.shape[1], head=i % self.shape[1])
            for i, count in enumerate(self.counts)
        ]
        entries += [entry("circuit_size", size, seed) for seed, size in enumerate(self.sizes)]
        entries += [
            entry("shared_by_all", self.shared),
            entry("shared_by_all_share", self.shared_share),
            entry("sufficient_sets", self.sufficient),
            entry("disjoint_sufficient_sets", self.disjoint),
        ]
        entries += [entry("jaccard", value, a, other_seed=b) for (a, b), value in self.jaccard.items()]
        if self.jaccard:
            low, high = self.band
            entries.append(entry("jaccard_mean", self.mean, null_low=low, null_high=high))
            entries.append(entry("jaccard_chance", self.chance))
        return entries


def consistency(circuits: NDArray[np.bool_], sufficient: Sequence[bool], shape: tuple[int, int]) -> Consistency:
    """Compare circuits [seed, layer * head]; `sufficient` says of each whether it does the task alone."""
    sizes = circuits.sum(axis=1)
    shared = int(circuits.all(axis=0).sum())
    pairs = list(combinations(range(len(circuits)), 2))
    overlaps = {(a, b): jaccard(circuits[a], circuits[b]) for a, b in pairs}
    enough = {
        frozenset(np.flatnonzero(circuit).tolist())
        for circuit, is_enough in zip(circuits, sufficient, strict=True)
        if is_enough
    }
    heads = circuits.shape[1]
    mean_size = float(sizes.mean())
    return Consistency(
        counts=circuits.sum(axis=0),
        shape=shape,
        sizes=sizes,
        shared=shared,
        shared_share=shared / mean_size if mean_size else 0.0,
        jaccard=overlaps,
        mean=float(np.mean(list(overlaps.values()))) if pairs else float("nan"),
        chance=float(np.mean([expected_jaccard(heads, sizes[a], sizes[b]) for a, b in pairs]))
        if pairs
        else float("nan"),
        band=null_band(circuits, shape) if pairs else (float("nan"), float("nan")),
        sufficient=int(np.sum(sufficient)),
        disjoint=most_disjoint(sorted(enough, key=lambda heads: (len(heads), sorted(heads)))),
    )


def jaccard(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> float:
    """Heads in both over heads in either; 1 for two empty circuits, which are the same."""
    either = int((a | b).sum())
    return int((a & b).sum()) / either if either else 1.0


def expected_jaccard(heads: int, first: int, second: int) -> float:
    """The mean overlap of two random circuits of these sizes: the number in both is hypergeometric."""
    if first + second == 0:
        return 1.0
    common = np.arange(max(0, first + second - heads), min(first, second) + 1)
    return float((stats.hypergeom.pmf(common, heads, first, second) * common / (first + second - common)).sum())


def null_band(circuits: NDArray[np.bool_], shape: tuple[int, int], draws: int = PERMUTATIONS) -> tuple[float, float]:
    """The 95 % band of the mean overlap when the heads of every circuit are shuffled within their layers."""
    rng = np.random.default_rng(SEED)
    grids = circuits.reshape(len(circuits), *shape)
    pairs = list(combinations(range(len(grids)), 2))
    means = []
    for _ in range(draws):
        shuffled = rng.permuted(grids, axis=2)
        means.append(np.mean([jaccard(shuffled[a], shuffled[b]) for a, b in pairs]))
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def most_disjoint(circuits: Sequence[frozenset[int]]) -> int:
    """The largest number of different circuits of which no two share a head."""
    if not circuits:
        return 0
    first, rest = circuits[0], circuits[1:]
    with_first = 1 + most_disjoint([other for other in rest if not other & first])
    return max(with_first, most_disjoint(rest)) if any(other & first for other in rest) else with_first
