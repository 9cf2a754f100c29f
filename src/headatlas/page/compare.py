"""How far the maps of an atlas agree: method with method, seed with seed, on the same task."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import stats

if TYPE_CHECKING:
    from headatlas.atlas import Atlas
    from headatlas.stats import Array

PRIMARY = ("importance", "facilitation")  # what heads are ranked by, where a method gives several measures
LEAST = 8  # heads that two maps must share for a comparison
COLUMNS = ["kind", "first", "second", "task", "heads", "correlation", "k", "shared", "expected", "p_value"]


def primary_measure(atlas: Atlas, method: str) -> str:
    """The measure that ranks the heads of a method."""
    found = atlas.scores.loc[atlas.scores["method"] == method, "measure"].unique().tolist()
    return next((name for name in PRIMARY if name in found), found[0])


def agreement(atlas: Atlas, k: int | None = None) -> pd.DataFrame:
    """One row for each task and pair of methods, and for each task, method and pair of seeds.

    Magnitudes are compared, since heads are ranked by them, on the heads that both maps measured: Spearman's rank
    correlation, and how many of the strongest k heads are the same, with the number that chance gives (k * k / heads)
    and the hypergeometric probability of so many or more. By default k is a twentieth of the heads that are compared,
    at least 5. Methods are compared on their means over seeds.
    """
    rows = [(*names, *compare(first, second, k)) for names, first, second in _pairs(atlas)]
    return pd.DataFrame([row for row in rows if row[4] >= LEAST], columns=COLUMNS)


def compare(first: Array, second: Array, k: int | None = None) -> tuple[int, float, int, int, float, float]:
    """Two maps of the same heads: (heads measured by both, rank correlation, k, shared, expected, p)."""
    both = np.isfinite(first) & np.isfinite(second)
    a, b = np.abs(first[both]), np.abs(second[both])
    n = int(both.sum())
    size = min(k or max(5, round(n / 20)), n)
    if n < 2:
        return n, float("nan"), size, 0, float("nan"), float("nan")
    varied = np.ptp(a) > 0 and np.ptp(b) > 0
    correlation = float(stats.spearmanr(a, b).statistic) if varied else float("nan")
    shared = len(set(_strongest(a, size)) & set(_strongest(b, size)))
    p = float(stats.hypergeom.sf(shared - 1, n, size, size))
    return n, correlation, size, shared, size * size / n, p


def _strongest(magnitudes: Array, k: int) -> list[int]:
    return list(np.argsort(-magnitudes, kind="stable")[:k])


def _pairs(atlas: Atlas) -> Iterator[tuple[tuple[str, str, str, str], Array, Array]]:
    seeds = _seed_maps(atlas)
    for task in atlas.tasks:
        means = {
            method: np.mean(list(seeds[method, task].values()), axis=0)
            for method in atlas.methods
            if (method, task) in seeds
        }
        for first, second in combinations(means, 2):
            yield ("methods", first, second, task), means[first], means[second]
        for method in means:
            for one, other in combinations(seeds[method, task], 2):
                names = ("seeds", f"{method} {one}", f"{method} {other}", task)
                yield names, seeds[method, task][one], seeds[method, task][other]


def _seed_maps(atlas: Atlas) -> dict[tuple[str, str], dict[int, Array]]:
    """The flat maps of each (method, task) by seed; NaN where a head was not measured."""
    heads = atlas.shape[1]
    size = atlas.shape[0] * heads
    measures = {method: primary_measure(atlas, method) for method in atlas.methods}
    scores = atlas.scores[atlas.scores["measure"] == atlas.scores["method"].map(measures)]
    maps: dict[tuple[str, str], dict[int, Array]] = {}
    for (method, task, seed), rows in scores.groupby(["method", "task", "seed"], sort=False):
        flat = np.full(size, np.nan)
        flat[rows["layer"].to_numpy() * heads + rows["head"].to_numpy()] = rows["value"].to_numpy()
        maps.setdefault((method, task), {})[int(seed)] = flat
    return maps
