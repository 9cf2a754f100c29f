"""The maps of one method as arrays, with what is known about their noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import stats

from headatlas.patterns.finding import Head
from headatlas.stats import Array, q_values

if TYPE_CHECKING:
    from headatlas.atlas.reading import Atlas


@dataclass(frozen=True)
class TaskMap:
    """One task's map over its n measured heads; seeds are averaged.

    Arrays have one entry a measured head, in order of layer and head. `stderr` is 0 and `p` NaN where a method gives
    none. `df` are the degrees of freedom behind the standard errors.
    """

    task: str
    shape: tuple[int, int]
    layer: np.ndarray
    head: np.ndarray
    value: Array
    stderr: Array
    p: Array
    df: float

    @cached_property
    def size(self) -> Array:
        """|value|: a head that hurts matters as much as one that helps."""
        return np.abs(self.value)

    @cached_property
    def q(self) -> Array:
        return q_values(self.p)

    @cached_property
    def by_layer(self) -> list[slice]:
        """The places of every measured layer: the arrays are in order of layers."""
        starts = np.flatnonzero(np.diff(self.layer, prepend=-1))
        return [slice(a, b) for a, b in zip(starts, [*starts[1:], len(self.layer)], strict=True)]

    @property
    def has_p(self) -> bool:
        return bool(np.isfinite(self.p).any())

    @property
    def noisy(self) -> bool:
        """Whether standard errors are known."""
        return bool((self.stderr > 0).any())

    @cached_property
    def global_p(self) -> float:
        """Simes' p-value of "no head has an effect"; it is the smallest q-value."""
        return float(np.nanmin(self.q)) if self.has_p else float("nan")

    @cached_property
    def above(self) -> np.ndarray:
        """The heads that stand above the null: q < 0.05; the strongest 5 % where the map has no p-values."""
        if self.has_p:
            return np.nan_to_num(self.q, nan=1.0) < 0.05
        strongest = np.zeros(len(self.value), dtype=bool)
        strongest[np.argsort(-self.size, kind="stable")[: max(1, round(0.05 * len(self.value)))]] = True
        return strongest

    def names(self, chosen: np.ndarray) -> list[Head]:
        """The (layer, head) of places in the arrays, in the order given."""
        return [(int(self.layer[i]), int(self.head[i])) for i in chosen]

    def grid(self, values: np.ndarray) -> np.ndarray:
        """Values [..., n] on the [..., layer, head] grid; 0 where a head was not measured."""
        grid = np.zeros((*values.shape[:-1], *self.shape), dtype=values.dtype)
        grid[..., self.layer, self.head] = values
        return grid

    def only(self, kept: np.ndarray) -> TaskMap:
        """The same map on fewer heads."""
        arrays = {name: getattr(self, name)[kept] for name in ("layer", "head", "value", "stderr", "p")}
        return replace(self, **arrays)


def read_maps(atlas: Atlas, method: str, measure: str) -> list[TaskMap]:
    """The maps of all tasks, in the order of the atlas; heads whose value is not finite count as not measured."""
    scores = atlas.scores
    rows = scores[(scores["method"] == method) & (scores["measure"] == measure) & np.isfinite(scores["value"])]
    groups = atlas.run.get("groups", {}).get(method, {})
    return [
        _mean_of_seeds(task, rows[rows["task"] == task], atlas.shape, groups.get(task))
        for task in dict.fromkeys(rows["task"])
    ]


def seed_maps(atlas: Atlas, method: str, measure: str, task: str) -> dict[int, TaskMap]:
    """One map a seed."""
    scores = atlas.scores
    rows = scores[(scores["method"] == method) & (scores["measure"] == measure) & (scores["task"] == task)]
    rows = rows[np.isfinite(rows["value"])]
    groups = atlas.run.get("groups", {}).get(method, {}).get(task)
    return {int(seed): _mean_of_seeds(task, own, atlas.shape, groups) for seed, own in rows.groupby("seed", sort=True)}


def common(a: TaskMap, b: TaskMap) -> tuple[TaskMap, TaskMap]:
    """Both maps on the heads that both measured."""
    keys = [m.layer * m.shape[1] + m.head for m in (a, b)]
    return a.only(np.isin(keys[0], keys[1])), b.only(np.isin(keys[1], keys[0]))


def _mean_of_seeds(task: str, rows: pd.DataFrame, shape: tuple[int, int], groups: int | None) -> TaskMap:
    df = float(groups - 1) if groups and groups > 1 else np.inf
    by_head = rows.groupby(["layer", "head"], sort=True)
    mean = by_head[["value", "stderr", "p_value"]].mean()
    # Seeds share their examples: averaging over them takes no sampling error away.
    value, stderr, p = (mean[name].to_numpy(dtype=float) for name in ("value", "stderr", "p_value"))
    if rows["seed"].nunique() > 1:
        t = np.divide(np.abs(value), stderr, out=np.full_like(value, np.nan), where=stderr > 0)
        # Twice the mean of p-values is a p-value, however they depend on each other.
        p = np.where(np.isfinite(t), 2 * stats.t.sf(t, df), np.minimum(1.0, 2 * p))
    layer, head = (mean.index.get_level_values(name).to_numpy(dtype=int) for name in ("layer", "head"))
    return TaskMap(task, shape, layer, head, value, np.nan_to_num(stderr, nan=0.0), p, df)
