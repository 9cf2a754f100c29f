"""The maps of one method as arrays, with what is known about their noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from headatlas.patterns.finding import Head
from headatlas.stats import LEVEL, Array, q_values

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

LARGEST_SHARE = 0.05  # of the heads; used instead of the heads above the null where a map has no p-values


@dataclass(frozen=True)
class TaskMap:
    """One task's map over its n measured heads, averaged over seeds.

    Arrays have one entry per measured head, in order of layer and head. `stderr` is 0 and `p` NaN where a method gives
    none. `df` are the degrees of freedom behind the standard errors. `shape` is (layers, heads) of the model, and
    `kv_heads` how many heads of a layer have keys and values.
    """

    task: str
    shape: tuple[int, int]
    kv_heads: int
    layer: np.ndarray
    head: np.ndarray
    value: Array
    stderr: Array
    p: Array
    df: float

    @cached_property
    def size(self) -> Array:
        """|value|: for the shape of a map, a head that hurts counts as much as one that helps."""
        return np.abs(self.value)

    @cached_property
    def q(self) -> Array:
        return q_values(self.p)

    @cached_property
    def layer_slices(self) -> list[slice]:
        """Where the heads of every measured layer are in the arrays."""
        starts = np.flatnonzero(np.diff(self.layer, prepend=-1))
        return [slice(start, end) for start, end in zip(starts, [*starts[1:], len(self.layer)], strict=True)]

    @property
    def has_p(self) -> bool:
        return bool(np.isfinite(self.p).any())

    @property
    def has_errors(self) -> bool:
        return bool((self.stderr > 0).any())

    @cached_property
    def global_p(self) -> float:
        """Simes' p-value of "no head has an effect". It is the smallest q-value."""
        return float(np.nanmin(self.q)) if self.has_p else float("nan")

    @cached_property
    def above_null(self) -> np.ndarray:
        """Which heads stand above the null by their q-value; the largest 5 % where the map has no p-values."""
        if self.has_p:
            return np.nan_to_num(self.q, nan=1.0) < LEVEL
        largest = np.zeros(len(self.value), dtype=bool)
        largest[self.by_size[: max(1, round(LARGEST_SHARE * len(self.value)))]] = True
        return largest

    @cached_property
    def by_size(self) -> np.ndarray:
        """Indices of the heads, largest |value| first."""
        return np.argsort(-self.size, kind="stable")

    @cached_property
    def ranking(self) -> np.ndarray:
        """Indices of the heads, largest value first: those that help the task most."""
        return np.argsort(-self.value, kind="stable")

    def heads_at(self, indices: np.ndarray) -> list[Head]:
        """The (layer, head) at these indices, in the order given."""
        return [(int(self.layer[i]), int(self.head[i])) for i in indices]

    def grid(self, values: np.ndarray) -> np.ndarray:
        """Values [..., n] on the [..., layer, head] grid; 0 where a head was not measured."""
        grid = np.zeros((*values.shape[:-1], *self.shape), dtype=values.dtype)
        grid[..., self.layer, self.head] = values
        return grid


def read_maps(atlas: Atlas, method: str, measure: str) -> list[TaskMap]:
    """The maps of all tasks, in the order of the atlas. Heads whose value is not finite count as not measured."""
    by_task = {task: _rows(atlas, method, measure, task) for task in atlas.tasks_of(method)}
    return [_mean_over_seeds(atlas, task, rows) for task, rows in by_task.items() if len(rows)]


def read_seed_maps(atlas: Atlas, method: str, measure: str, task: str) -> dict[int, TaskMap]:
    """One map per seed."""
    by_seed = _rows(atlas, method, measure, task).groupby("seed", sort=True)
    return {int(seed): _mean_over_seeds(atlas, task, seed_rows) for seed, seed_rows in by_seed}


def on_common_heads(maps: Sequence[TaskMap]) -> list[TaskMap]:
    """The maps on the heads that all of them measured."""
    head_numbers = [task_map.layer * task_map.shape[1] + task_map.head for task_map in maps]
    common = set.intersection(*(set(numbers.tolist()) for numbers in head_numbers))
    return [
        _restricted(task_map, np.isin(numbers, list(common)))
        for task_map, numbers in zip(maps, head_numbers, strict=True)
    ]


def _restricted(task_map: TaskMap, mask: np.ndarray) -> TaskMap:
    arrays = {name: getattr(task_map, name)[mask] for name in ("layer", "head", "value", "stderr", "p")}
    return replace(task_map, **arrays)


def _rows(atlas: Atlas, method: str, measure: str, task: str) -> pd.DataFrame:
    rows = atlas.rows_of(method, measure, task)
    return rows[np.isfinite(rows["value"])]


def _run_facts(atlas: Atlas, rows: pd.DataFrame) -> tuple[int, float]:
    """The kv heads of the model, and the number of groups behind the errors of a map (NaN where it is not known).

    Nothing else in patterns reads `atlas.run` or the groups.
    """
    return atlas.run.model.kv_heads, float(rows["groups"].iloc[0] or np.nan)


def _mean_over_seeds(atlas: Atlas, task: str, rows: pd.DataFrame) -> TaskMap:
    kv_heads, groups = _run_facts(atlas, rows)
    df = groups - 1 if groups > 1 else np.inf
    several = rows["seed"].nunique() > 1
    if several:
        # Seeds share their examples, so averaging over them does not reduce the sampling error.
        rows = rows.groupby(["layer", "head"], as_index=False)[["value", "stderr", "p_value"]].mean()
    else:
        rows = rows.iloc[np.lexsort((rows["head"], rows["layer"]))]
    value, stderr, p = (rows[name].to_numpy(dtype=float) for name in ("value", "stderr", "p_value"))
    if several:
        # p is of the method's null, which value and stderr do not know. Twice the mean of p-values is a p-value,
        # however they depend on each other.
        p = np.minimum(1.0, 2 * p)
    layer, head = (rows[name].to_numpy(dtype=int) for name in ("layer", "head"))
    return TaskMap(task, atlas.shape, kv_heads, layer, head, value, np.nan_to_num(stderr, nan=0.0), p, df)
