"""Squares of the map that hold more than their layers explain."""

from __future__ import annotations

import numpy as np

from headatlas.patterns.finding import Statement
from headatlas.patterns.kind import Kind, one_layer
from headatlas.patterns.nulls import WITHIN_LAYERS, Nulls
from headatlas.stats import Array
from headatlas.wording import decimal

WINDOWS = (2, 3, 5)  # heads on each side of a square


def no_window(nulls: Nulls) -> str | None:
    """A window as wide as the layer has nothing to be compared with."""
    too_narrow = nulls.map.shape[1] <= min(WINDOWS)
    return one_layer(nulls) or (f"the layers have at most {min(WINDOWS)} heads" if too_narrow else None)


def hot_spot(nulls: Nulls) -> list[Statement]:
    """Scan of square windows.

    Square roots of sizes are added up, so that one head alone is no hot spot; the mass that is reported is that of the
    sizes.
    """
    task_map = nulls.map
    drawn = np.abs(nulls.within_layers)
    roots = np.sqrt(np.concatenate([task_map.size[None].astype(drawn.dtype), drawn]))
    layer, head, side, scores = _scan(task_map.grid(roots))
    inside = (task_map.layer >= layer) & (task_map.layer < layer + side)
    inside &= (task_map.head >= head) & (task_map.head < head + side)
    expected = float(drawn[:, inside].sum(axis=1).mean()) if inside.any() else 0.0
    times = float(task_map.size[inside].sum()) / expected if expected > 0 else 1.0
    window = f"layers {layer} to {layer + side - 1}, heads {head} to {head + side - 1}"
    numbers = f"{decimal(times, 1)} times the mass that heads in random order within their layers give"
    return [
        Statement(
            (task_map.task,),
            f"{task_map.task} has a hot spot at {window}: {numbers}.",
            f"{task_map.task} has no hot spot beyond its layer profile; the nearest, {window}, has {numbers}.",
            value=times,
            effect=times - 1,
            observed=float(scores[0]),
            draws=scores[1:],
            heads=task_map.heads_at(np.flatnonzero(inside)),
        )
    ]


def _scan(grid: np.ndarray) -> tuple[int, int, int, Array]:
    """First layer, first head and side of the best window in row 0, and the score of the best window in every row.

    `grid` is [row, layer, head]. Each window is judged by the mean and spread of that window over all rows.
    """
    layers, heads = grid.shape[1:]
    sums = _corner_sums(grid)
    best, layer, head, best_side = np.full(len(grid), -np.inf), 0, 0, 0
    for side in (side for side in WINDOWS if side <= layers and side < heads):
        inside = sums[:, side:, side:] - sums[:, :-side, side:] - sums[:, side:, :-side] + sums[:, :-side, :-side]
        deviation = inside.std(axis=0)
        usable = deviation > 1e-6 * deviation.max()
        score = (inside - inside.mean(axis=0)) / np.where(usable, deviation, np.inf)
        if score[0].max() > best[0]:
            layer, head = (int(i) for i in np.unravel_index(score[0].argmax(), score[0].shape))
            best_side = side
        best = np.maximum(best, score.max(axis=(1, 2)))
    return layer, head, best_side, best


def _corner_sums(grid: np.ndarray) -> np.ndarray:
    """Sums over all heads above and to the left, [row, layer + 1, head + 1]."""
    sums = np.zeros((len(grid), grid.shape[1] + 1, grid.shape[2] + 1), dtype=grid.dtype)
    np.cumsum(grid, axis=1, out=sums[:, 1:, 1:])
    np.cumsum(sums[:, 1:, 1:], axis=2, out=sums[:, 1:, 1:])
    return sums


HOT_SPOT = Kind(
    name="hot spot",
    question="Is there a square of heads that holds more than its layers explain?",
    null=f"{WITHIN_LAYERS}; best of all windows",
    answer=hot_spot,
    obstacle=no_window,
)
