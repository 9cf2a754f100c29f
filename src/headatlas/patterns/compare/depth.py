"""One task in maps of models of different shapes, by relative depth: 0 is the first layer, 1 the last."""

from __future__ import annotations

import numpy as np

from headatlas.patterns.agreement import FEWEST_HEADS
from headatlas.patterns.compare.estimates import correlation_with_interval, rank_correlation, with_interval
from headatlas.patterns.compare.noise import share_examples
from headatlas.patterns.compare.result import ComparedTask, Estimate
from headatlas.patterns.compare.sides import Side
from headatlas.patterns.layer_profile import layer_shares
from headatlas.patterns.maps import TaskMap
from headatlas.stats import Array


def compare_depth(first: Side, second: Side, task: str, k: int) -> ComparedTask | None:
    """None where a model has too few layers, or a map is zero everywhere. Heads are not counted, whatever `k` is."""
    a, b = first.maps[task], second.maps[task]
    parts = min(a.shape[0], b.shape[0])
    if parts < FEWEST_HEADS or not (a.size.any() and b.size.any()):
        return None
    noises, values = (first.noise(a), second.noise(b)), (a.value, b.value)

    def correlation(x: Array, y: Array) -> Array:
        return rank_correlation(depth_shares(a, np.abs(x), parts), depth_shares(b, np.abs(y), parts))

    def first_centre(x: Array, y: Array) -> Array:
        return relative_centre(a, np.abs(x))

    def second_centre(x: Array, y: Array) -> Array:
        return relative_centre(b, np.abs(y))

    def difference(x: Array, y: Array) -> Array:
        return first_centre(x, y) - second_centre(x, y)

    return ComparedTask(
        task=task,
        units=parts,
        correlation=correlation_with_interval(correlation, values, noises),
        same_examples=share_examples(*noises),
        profiles=np.stack([depth_shares(a, a.size, parts), depth_shares(b, b.size, parts)]),
        # One centre alone has no interval: from 12 groups it covered in about 80 %, that of the difference in 94 %.
        centres=(
            Estimate(float(first_centre(*values))),
            Estimate(float(second_centre(*values))),
            with_interval(difference, values, noises),
        ),
    )


def depth_shares(task_map: TaskMap, size: Array, parts: int) -> Array:
    """The share of the mass in each of equal `parts` of the depth: [..., n] to [..., part].

    A layer that lies in two parts is divided between them.
    """
    layers, edges = np.linspace(0, 1, task_map.shape[0] + 1), np.linspace(0, 1, parts + 1)
    begin, end = np.maximum(layers[:-1, None], edges[None, :-1]), np.minimum(layers[1:, None], edges[None, 1:])
    shares: Array = layer_shares(task_map, size) @ (np.maximum(end - begin, 0) * task_map.shape[0])
    return shares


def relative_centre(task_map: TaskMap, size: Array) -> Array:
    """The centre of mass as a share of the depth: [..., n] to [...]."""
    middles = (np.arange(task_map.shape[0]) + 0.5) / task_map.shape[0]
    centre: Array = layer_shares(task_map, size) @ middles
    return centre
