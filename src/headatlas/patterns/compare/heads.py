"""One task in two maps of the same heads."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from headatlas.atlas.ranking import head_order
from headatlas.patterns.agreement import FEWEST_HEADS, both_signed
from headatlas.patterns.compare.differences import differences
from headatlas.patterns.compare.estimates import Noises, correlation_with_interval, rank_correlation
from headatlas.patterns.compare.noise import Noise, share_examples
from headatlas.patterns.compare.result import ComparedTask
from headatlas.patterns.compare.sides import Side, same_unit
from headatlas.patterns.maps import TaskMap, on_common_heads
from headatlas.stats import Array


def compare_heads(first: Side, second: Side, task: str, k: int) -> ComparedTask | None:
    """None where too few heads were measured by both, or all have the same value."""
    wholes = first.maps[task], second.maps[task]
    a, b = on_common_heads(wholes)
    if len(a.value) < FEWEST_HEADS or not (np.ptp(a.value) > 0 and np.ptp(b.value) > 0):
        return None
    noises = _noise_on(first, wholes[0], a), _noise_on(second, wholes[1], b)
    is_signed = both_signed(a, b)

    def correlation(x: Array, y: Array) -> Array:
        return rank_correlation(x, y) if is_signed else rank_correlation(np.abs(x), np.abs(y))

    heads = len(a.value)
    k = min(k, heads // 4)
    top, other = _first(first, a, k), set(_first(second, b, k).tolist())
    shared = np.array([i for i in top.tolist() if i in other], dtype=int)
    return ComparedTask(
        task=task,
        units=heads,
        correlation=correlation_with_interval(correlation, (a.value, b.value), noises),
        same_examples=share_examples(*noises),
        k=k,
        shared=tuple(a.heads_at(shared)),
        by_chance=k**2 / heads,
        p_value=float(stats.hypergeom.sf(len(shared) - 1, heads, k, k)),
        heads=_rows(first, second, (a, b), noises),
    )


def _first(side: Side, task_map: TaskMap, k: int) -> np.ndarray:
    """The indices of the first k heads, in the order that the method declares."""
    return head_order(task_map.value, side.atlas.info(side.method), side.measure)[:k]


def _rows(first: Side, second: Side, maps: tuple[TaskMap, TaskMap], noises: Noises) -> pd.DataFrame:
    a, b = maps
    rows = pd.DataFrame({"layer": a.layer, "head": a.head, "first": a.value, "second": b.value})
    tested = differences(maps, noises) if same_unit(first, second, a.task) else None
    if tested is None:
        return rows
    return rows.assign(difference=tested.mean, low=tested.low, high=tested.high, p_value=tested.p_value)


def _noise_on(side: Side, whole: TaskMap, common: TaskMap) -> Noise | None:
    """The noise of a map on the heads that both maps have."""
    noise = side.noise(whole)
    if noise is None:
        return None
    numbers, wanted = (task_map.layer * task_map.shape[1] + task_map.head for task_map in (whole, common))
    return noise.only(np.isin(numbers, wanted))
