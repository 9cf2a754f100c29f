"""Do methods agree with each other, and does a map agree with itself? As tables, and as functions of two maps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from headatlas.patterns.denoise import effect_draws
from headatlas.patterns.maps import TaskMap, on_common_heads, read_maps, read_seed_maps
from headatlas.stats import Array

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

FEWEST_HEADS = 8  # below that a rank correlation says nothing
TOP = 10  # heads of each map that are compared

MapPair = tuple[TaskMap, TaskMap]


class Agreement(NamedTuple):
    """How far two maps of the same heads agree; `agreement` explains the numbers."""

    heads: int
    correlation: float
    k: int
    shared: int
    expected: float
    p_value: float


def agreement(atlas: Atlas, k: int = TOP) -> pd.DataFrame:
    """One row for every task and pair of methods, and for every task, method and pair of its seeds.

    `kind` is "methods" or "seeds". Of the `heads` that both measured: `correlation` is Spearman's, of signed values
    where both maps have both signs and of |value| otherwise. Of the top `k` of each map, the heads with the largest
    values (at most a quarter of the heads), `shared` are the same, `expected` would be by chance, and `p_value` is the
    hypergeometric chance of so many or more.
    """
    rows = []
    for first, second in combinations(atlas.methods, 2):
        rows += [("methods", first, second, *_row(pair, k)) for pair in method_pairs(atlas, first, second)]
    for method in atlas.methods:
        for task in atlas.tasks_of(method):
            seed_maps = read_seed_maps(atlas, method, atlas.choose_measure(method), task)
            for (seed, first_map), (other_seed, second_map) in combinations(seed_maps.items(), 2):
                names = (f"{method} {seed}", f"{method} {other_seed}")
                rows += [("seeds", *names, *_row(pair, k)) for pair in comparable([(first_map, second_map)])]
    return pd.DataFrame(rows, columns=["kind", "first", "second", "task", *Agreement._fields])


def _row(pair: MapPair, k: int) -> tuple[str | float, ...]:
    return (pair[0].task, *compare(*pair, k))


def compare(first: TaskMap, second: TaskMap, k: int = TOP) -> Agreement:
    """Two maps of the same heads; k is reduced to a quarter of the heads where these are few."""
    n = len(first.value)
    k = min(k, n // 4)
    shared = len(set(first.ranking[:k]) & set(second.ranking[:k]))
    p = float(stats.hypergeom.sf(shared - 1, n, k, k))
    return Agreement(n, rank_correlation(first, second), k, shared, k**2 / n, p)


def method_pairs(atlas: Atlas, first: str, second: str) -> list[MapPair]:
    """The maps of the tasks that both methods mapped, as far as they can be compared."""
    first_maps, second_maps = (
        {task_map.task: task_map for task_map in read_maps(atlas, method, atlas.choose_measure(method))}
        for method in (first, second)
    )
    return comparable((first_maps[task], second_maps[task]) for task in first_maps if task in second_maps)


def comparable(pairs: Iterable[MapPair]) -> list[MapPair]:
    """Pairs on the heads that both measured, without pairs where these are too few or all have the same value."""
    restricted = (on_common_heads(pair) for pair in pairs)
    return [
        (first, second)
        for first, second in restricted
        if len(first.value) >= FEWEST_HEADS and np.ptp(first.value) > 0 and np.ptp(second.value) > 0
    ]


def rank_correlation(first: TaskMap, second: TaskMap) -> float:
    """Spearman's, of signed values where both maps have both signs, otherwise of |value|."""
    signed = both_signed(first, second)
    x, y = (task_map.value if signed else task_map.size for task_map in (first, second))
    return float(stats.spearmanr(x, y).statistic)


def both_signed(first: TaskMap, second: TaskMap) -> bool:
    return all((task_map.value < 0).any() and (task_map.value > 0).any() for task_map in (first, second))


def stability(atlas: Atlas, k: int = TOP, seed: int = 0) -> pd.DataFrame:
    """One row per method, measure and task: how similar the map would be if it were measured again.

    There are `seeds` maps, and `between_seeds` is the mean rank correlation of two of them (missing with one). Seeds
    share their examples, so it tells only about the randomness of the method. `repeat` and `half` are the rank
    correlations that the standard errors imply for a repetition with as many new examples and for two halves of the
    examples, and `repeat_overlap` is how many of the top `k` heads by value would be the same (missing without standard
    errors).
    """
    rows = []
    for method, measure in atlas.scores[["method", "measure"]].drop_duplicates().itertuples(index=False):
        for task_map in read_maps(atlas, method, measure):
            seed_maps = read_seed_maps(atlas, method, measure, task_map.task)
            rows.append(
                {
                    "method": method,
                    "measure": measure,
                    "task": task_map.task,
                    "heads": len(task_map.value),
                    "seeds": len(seed_maps),
                    "between_seeds": _mean_correlation(comparable(combinations(seed_maps.values(), 2))),
                    **_repetition(task_map, min(k, len(task_map.value)), np.random.default_rng(seed)),
                }
            )
    return pd.DataFrame(rows)


def _mean_correlation(pairs: list[MapPair]) -> float:
    return float(np.mean([rank_correlation(*pair) for pair in pairs])) if pairs else float("nan")


def repeated_overlap(task_map: TaskMap, k: int, seed: int = 0) -> float:
    """How many of the first k heads new examples would give again, as the standard errors imply."""
    repeats = _repeats(task_map, np.random.default_rng(seed))
    return float("nan") if repeats is None else _top_overlap(repeats(1.0), k)


def _repeats(task_map: TaskMap, rng: np.random.Generator) -> Callable[[float], tuple[Array, Array]] | None:
    """A function that draws two measurements of the same effects [draw, head] with so many times the noise of the map;
    None where no standard errors are known, or of fewer than three heads."""
    if not task_map.has_errors or len(task_map.value) < 3:
        return None
    effects = effect_draws(task_map.value, task_map.stderr, rng).astype(float)

    def again(noise: float) -> Array:
        return effects + noise * task_map.stderr * rng.standard_normal(effects.shape)

    return lambda noise: (again(noise), again(noise))


def _repetition(task_map: TaskMap, k: int, rng: np.random.Generator) -> dict[str, float]:
    repeats = _repeats(task_map, rng)
    if repeats is None:
        return dict.fromkeys(("repeat", "half", "repeat_overlap"), float("nan"))
    whole, half = repeats(1.0), repeats(np.sqrt(2))  # half of the examples have twice the variance
    return {
        "repeat": _row_correlation(*whole),
        "half": _row_correlation(*half),
        "repeat_overlap": _top_overlap(whole, k),
    }


def _top_overlap(drawn: tuple[Array, Array], k: int) -> float:
    """How many of the first k heads two measurements share, on average over the rows."""
    tops = [np.argpartition(-rows, k - 1, axis=1)[:, :k] for rows in drawn]
    return float(np.mean([len(set(first) & set(second)) for first, second in zip(*tops, strict=True)]))


def _row_correlation(first: Array, second: Array) -> float:
    """Mean rank correlation of the rows of two arrays."""
    x, y = (stats.zscore(stats.rankdata(drawn, axis=1), axis=1) for drawn in (first, second))
    return float((x * y).mean())
