"""Do methods agree with each other, and does a map agree with itself?"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import stats

from headatlas.patterns.denoise import effect_draws
from headatlas.patterns.maps import TaskMap, common, read_maps, seed_maps
from headatlas.stats import Array

if TYPE_CHECKING:
    from headatlas.atlas.reading import Atlas

FEWEST = 8  # heads below which a rank correlation says nothing
COLUMNS = ["kind", "first", "second", "task", "heads", "correlation", "k", "shared", "expected", "p_value"]


def agreement(atlas: Atlas, k: int = 10) -> pd.DataFrame:
    """One row for every task and pair of methods, and for every task, method and pair of its seeds.

    `kind` is "methods" or "seeds". Of the `heads` that both measured: `correlation` is Spearman's, of signed values
    where both maps have both signs and of |value| otherwise; of the `k` strongest by |value| (at most a quarter of the
    heads) `shared` are the same, `expected` are by chance, and `p_value` is the hypergeometric chance of so many or
    more.
    """
    pairs = [
        ("methods", one, other, a, b)
        for one, other in combinations(atlas.methods, 2)
        for a, b in paired_maps(atlas, one, other)
    ]
    for method in atlas.methods:
        for task in atlas.tasks_of(method):
            own = seed_maps(atlas, method, atlas.choose_measure(method), task)
            for (one, a), (other, b) in combinations(own.items(), 2):
                pairs += [("seeds", f"{method} {one}", f"{method} {other}", *pair) for pair in comparable([(a, b)])]
    return pd.DataFrame([(*names, a.task, *compare(a, b, k)) for *names, a, b in pairs], columns=COLUMNS)


def compare(a: TaskMap, b: TaskMap, k: int) -> tuple[int, float, int, int, float, float]:
    """Two maps of the same heads: heads, rank correlation, k, shared, expected, p."""
    n = len(a.value)
    size = min(k, n // 4)
    shared = len(set(strongest(a, size)) & set(strongest(b, size)))
    p = float(stats.hypergeom.sf(shared - 1, n, size, size))
    return n, rank_correlation(a, b), size, shared, size**2 / n, p


def paired_maps(atlas: Atlas, one: str, other: str) -> list[tuple[TaskMap, TaskMap]]:
    """The maps of the tasks that both methods mapped, as far as they can be compared."""
    left, right = (
        {found.task: found for found in read_maps(atlas, method, atlas.choose_measure(method))}
        for method in (one, other)
    )
    return comparable([(left[task], right[task]) for task in left if task in right])


def comparable(pairs: Iterable[tuple[TaskMap, TaskMap]]) -> list[tuple[TaskMap, TaskMap]]:
    """Pairs on their common heads; not where these are too few or all alike."""
    on_common = (common(a, b) for a, b in pairs)
    return [(a, b) for a, b in on_common if len(a.value) >= FEWEST and np.ptp(a.value) > 0 and np.ptp(b.value) > 0]


def rank_correlation(a: TaskMap, b: TaskMap) -> float:
    """Spearman's, of signed values where both maps have both signs, otherwise of |value|."""
    x, y = (a.value, b.value) if both_signed(a, b) else (a.size, b.size)
    return float(stats.spearmanr(x, y).statistic)


def both_signed(a: TaskMap, b: TaskMap) -> bool:
    return all((found.value < 0).any() and (found.value > 0).any() for found in (a, b))


def strongest(found: TaskMap, k: int) -> list[int]:
    """Places of the k strongest heads by |value|."""
    return np.argsort(-found.size, kind="stable")[:k].tolist()


def stability(atlas: Atlas, k: int = 10, seed: int = 0) -> pd.DataFrame:
    """One row a method, measure and task: how far a map would come out the same again.

    `seeds` maps were made, and `between_seeds` is the mean rank correlation of two of them (missing with one). Seeds
    share their examples: it speaks of the method's own randomness alone. `repeat` and `half` are the rank correlations
    that standard errors imply for a repetition with as many new examples and for two halves of the examples,
    and `repeat_overlap` how many of the `k` strongest heads it would find again (missing without standard errors).
    """
    rows = []
    for method, measure in atlas.scores[["method", "measure"]].drop_duplicates().itertuples(index=False):
        for found in read_maps(atlas, method, measure):
            own = seed_maps(atlas, method, measure, found.task)
            rows.append(
                {
                    "method": method,
                    "measure": measure,
                    "task": found.task,
                    "heads": len(found.value),
                    "seeds": len(own),
                    "between_seeds": between_seeds(own.values()),
                    **_repetition(found, min(k, len(found.value)), np.random.default_rng(seed)),
                }
            )
    return pd.DataFrame(rows)


def between_seeds(own: Iterable[TaskMap]) -> float:
    """Mean rank correlation over all pairs of seeds; NaN where there is nothing to compare."""
    pairs = comparable(combinations(own, 2))
    return float(np.mean([rank_correlation(a, b) for a, b in pairs])) if pairs else float("nan")


def _repetition(found: TaskMap, k: int, rng: np.random.Generator) -> dict[str, float]:
    """Two measurements of the same effects, drawn anew: with the map's noise, and with that of half the examples."""
    if not found.noisy or len(found.value) < 3:
        return dict.fromkeys(("repeat", "half", "repeat_overlap"), float("nan"))
    effects = effect_draws(found.value, found.stderr, rng).astype(float)
    repeats = [effects + found.stderr * rng.standard_normal(effects.shape) for _ in range(2)]
    halves = [effects + np.sqrt(2) * found.stderr * rng.standard_normal(effects.shape) for _ in range(2)]
    tops = [np.argsort(-np.abs(drawn), axis=1)[:, :k] for drawn in repeats]
    overlap = np.mean([len(set(a) & set(b)) for a, b in zip(*tops, strict=True)])
    return {"repeat": _rowwise(*repeats), "half": _rowwise(*halves), "repeat_overlap": float(overlap)}


def _rowwise(a: Array, b: Array) -> float:
    ranks = [stats.rankdata(drawn, axis=1) for drawn in (a, b)]
    return float(np.mean([np.corrcoef(x, y)[0, 1] for x, y in zip(*ranks, strict=True)]))
