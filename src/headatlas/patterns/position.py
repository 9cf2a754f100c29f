"""Structure beyond the layer profile: hot spots, neighbouring heads, heads that share keys and values.

All are judged against heads in random order within their layers, so a strong layer alone is none of these.
"""

from __future__ import annotations

import numpy as np

from headatlas.patterns.finding import Statement
from headatlas.patterns.maps import TaskMap
from headatlas.patterns.nulls import WITHIN_LAYERS, Nulls
from headatlas.patterns.words import band, signed
from headatlas.stats import Array

WINDOWS = (2, 3, 5)


def hot_spot(nulls: Nulls) -> Statement:
    """Scan of square windows; each place is judged by its own null mean and spread, the map by its best window.

    Roots of sizes are added up, so that one head alone is no hot spot; the mass that is told is that of the sizes.
    """
    found = nulls.map
    drawn = np.abs(nulls.within_layers)
    sums = _corner_sums(found.grid(np.sqrt(np.concatenate([found.size[None].astype(drawn.dtype), drawn]))))
    best, (layer, head, width) = np.full(len(sums), -np.inf), (0, 0, 0)
    for side in (w for w in WINDOWS if w <= found.shape[0] and w < found.shape[1]):
        inside = _windows(sums, side)
        deviation = inside.std(axis=0)
        usable = deviation > 1e-6 * deviation.max()
        score = (inside - inside.mean(axis=0)) / np.where(usable, deviation, np.inf)
        if score[0].max() > best[0]:
            layer, head = (int(i) for i in np.unravel_index(score[0].argmax(), score[0].shape))
            width = side
        best = np.maximum(best, score.max(axis=(1, 2)))
    within = (found.layer >= layer) & (found.layer < layer + width) & (found.head >= head) & (found.head < head + width)
    expected = float(drawn[:, within].sum(axis=1).mean()) if within.any() else 0.0
    times = float(found.size[within].sum()) / expected if expected > 0 else 1.0
    where = f"layers {layer} to {layer + width - 1}, heads {head} to {head + width - 1}"
    shown = f"{times:.1f} times the mass that heads in random order within their layers give"
    return Statement(
        "hot spot",
        (found.task,),
        f"{found.task} has a hot spot at {where}: {shown}.",
        f"{found.task} has no hot spot beyond its layer profile; the strongest window, {where}, has {shown}.",
        value=times,
        effect=times - 1,
        null=WITHIN_LAYERS + "; best of all windows",
        observed=float(best[0]),
        draws=best[1:],
        heads=found.names(np.flatnonzero(within)),
    )


def _corner_sums(grid: np.ndarray) -> np.ndarray:
    """Sums over all heads above and to the left, [draw, layer + 1, head + 1]."""
    sums = np.zeros((len(grid), grid.shape[1] + 1, grid.shape[2] + 1), dtype=grid.dtype)
    np.cumsum(grid, axis=1, out=sums[:, 1:, 1:])
    np.cumsum(sums[:, 1:, 1:], axis=2, out=sums[:, 1:, 1:])
    return sums


def _windows(sums: np.ndarray, side: int) -> np.ndarray:
    """The sum in every square window, by its first layer and head."""
    return sums[:, side:, side:] - sums[:, :-side, side:] - sums[:, side:, :-side] + sums[:, :-side, :-side]


def neighbours(nulls: Nulls, kv_heads: int) -> list[Statement]:
    """Are neighbouring heads alike, and heads of one kv group? Pairs in one group do not count as neighbours."""
    found = nulls.map
    heads = found.shape[1]
    per_group = heads // kv_heads if 1 <= kv_heads < heads else 1
    observed, drawn = _standing(found, found.size[None])[0], _standing(found, np.abs(nulls.within_layers))
    statements = []
    if per_group < heads:
        apart = np.arange(heads - 1) // per_group != np.arange(1, heads) // per_group
        beside = "Neighbouring heads" + (" of different kv groups" if per_group > 1 else "")
        own, draws = float(_pairs(observed, apart)), _pairs(drawn, apart)
        statements.append(_alike("neighbours", found, beside, own, draws))
    if 1 < per_group < heads:
        own, draws = float(_groups(observed, per_group)), _groups(drawn, per_group)
        statements.append(_alike("kv groups", found, "Heads that share keys and values", own, draws))
    return statements


def _alike(kind: str, found: TaskMap, who: str, own: float, draws: Array) -> Statement:
    expected = float(draws.mean())
    shown = (
        f"their correlation within the layer is {signed(own, 2)}, heads in random order within their layers give "
        f"{band(draws, 2)}"
    )
    how = "alike" if own > expected else "unlike each other"
    return Statement(
        kind,
        (found.task,),
        f"{who} are {how} for {found.task}: {shown}.",
        f"{who} are not shown to be alike or unlike for {found.task}: {shown}.",
        value=own,
        effect=own - expected,
        null=WITHIN_LAYERS,
        observed=own,
        draws=draws,
        sides=2,
    )


def _standing(found: TaskMap, size: Array) -> Array:
    """Log size of every head less the mean of its layer, on the grid; logs keep single heads from deciding alone."""
    middle = np.median(found.size[found.size > 0])
    standing = np.log1p(size.astype(np.float32) / np.float32(middle))
    for own in found.by_layer:
        standing[:, own] -= standing[:, own].mean(axis=1, keepdims=True)
    return found.grid(standing)


def _pairs(standing: Array, apart: np.ndarray) -> Array:
    """Mean product of neighbours over mean square, over the pairs (head, head + 1) that are `apart`."""
    left, right = standing[..., :-1][..., apart], standing[..., 1:][..., apart]
    square = (left**2 + right**2).sum(axis=(-1, -2)) / 2
    return (left * right).sum(axis=(-1, -2)) / np.where(square > 0, square, 1)


def _groups(standing: Array, per_group: int) -> Array:
    """Mean product of two heads of a group over the mean square: the intraclass correlation."""
    grouped = standing.reshape(*standing.shape[:-1], -1, per_group)
    square = (grouped**2).sum(axis=(-1, -2, -3))
    products = (grouped.sum(axis=-1) ** 2).sum(axis=(-1, -2)) - square
    return products / ((per_group - 1) * np.where(square > 0, square, 1))
