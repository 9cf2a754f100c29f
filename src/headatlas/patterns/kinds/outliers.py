"""Heads that stand out from the trend of the layers."""

from __future__ import annotations

import numpy as np

from headatlas.patterns.finding import Statement
from headatlas.patterns.kind import Kind
from headatlas.patterns.maps import TaskMap
from headatlas.patterns.nulls import NORMAL_MEDIAN, TREND, Nulls
from headatlas.stats import LEVEL, Array
from headatlas.wording import decimal, head_list, head_name, percent


def usual_size(task_map: TaskMap, size: Array) -> Array:
    """The median |value| of each layer, averaged with the layers beside it, at every head: [draw, n]."""
    medians = np.stack([np.median(size[:, heads], axis=1) for heads in task_map.layer_slices], axis=1)
    padded = np.pad(medians, ((0, 0), (1, 1)), mode="edge")
    smooth = (padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]) / 3
    return smooth[:, np.unique(task_map.layer, return_inverse=True)[1]]


def zero_trend(nulls: Nulls) -> str | None:
    """No head can be compared with a median of zero."""
    usual = usual_size(nulls.map, nulls.map.size[None])
    return None if usual.all() else "most heads of some layers have a value of zero"


def outliers(nulls: Nulls) -> list[Statement]:
    """Heads far above what is usual in their layer and the two beside it, in units of that and of their own noise."""
    task_map = nulls.map
    size, stderr = task_map.size, task_map.stderr
    usual = usual_size(task_map, size[None])[0]
    can_stand_out = task_map.above_null | (not task_map.has_p)
    ratio = np.where(can_stand_out, size / np.hypot(usual / NORMAL_MEDIAN, stderr), 0.0)
    drawn = np.abs(nulls.trend(usual))
    highest = (drawn / np.hypot(usual_size(task_map, drawn) / NORMAL_MEDIAN, stderr)).max(axis=1)
    # A single-step max-T over heads, ten times stricter than usual because the sentence itself is one of many.
    stands_out = ratio > np.quantile(highest, 1 - LEVEL / 10)
    order = np.argsort(-ratio, kind="stable")
    heads = task_map.heads_at(order[stands_out[order]])
    farthest = order[0]  # the statement tests this one, so a claim names it even where the stricter limit does not
    named = heads or task_map.heads_at(order[:1])
    times = float(size[farthest] / usual[farthest])
    name = head_name(task_map.layer[farthest], task_map.head[farthest])
    share = percent(size[farthest] / size.sum())
    numbers = f"{decimal(times, 0)} times the median of its layer and the layers beside it ({share} of the mass)"
    if len(named) == 1:
        claim = f"{name} stands out from the trend of the layers, at {numbers}"
    else:
        claim = f"{len(named)} heads stand out from the trend of the layers: {head_list(named)}; {name} is at {numbers}"
    denial = f"no head is shown to stand out from the trend of the layers; the farthest, {name}, is at {numbers}"
    return [
        Statement(
            (task_map.task,),
            f"{task_map.task}: {claim}.",
            f"{task_map.task}: {denial}.",
            value=len(heads),
            effect=times,
            observed=float(ratio.max()),
            draws=highest,
            heads=named,
        )
    ]


OUTLIERS = Kind(
    name="outliers",
    question="Which heads stand out from the trend of the layers?",
    null=TREND,
    answer=outliers,
    obstacle=zero_trend,
)
