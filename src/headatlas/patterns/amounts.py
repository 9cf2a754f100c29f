"""How much there is on how many heads: heads above the null, sparsity, outliers from the layer's trend."""

from __future__ import annotations

import numpy as np

from headatlas.patterns.finding import Statement
from headatlas.patterns.maps import TaskMap
from headatlas.patterns.nulls import DENSE, TREND, Nulls
from headatlas.patterns.words import heads_in_words, percent
from headatlas.stats import Array


def above_null(found: TaskMap) -> Statement:
    """How many heads differ from zero. Simes' test of the whole map: under the null its p-value is uniform."""
    total, n = int(found.above.sum()), len(found.value)
    order = np.argsort(-found.size, kind="stable")
    named = found.names(order[found.above[order]])
    verb = "differs" if total == 1 else "differ"
    strongest = f"; strongest: {heads_in_words(named, 3)}" if named else ""
    shown = f"{total} of {n} heads {verb} from zero (q < 0.05){strongest}"
    denial = f"no head is shown to differ from zero (smallest q {found.global_p:.2g}, {n} heads)"
    return Statement(
        "above null",
        (found.task,),
        f"{found.task}: {shown}.",
        f"{found.task}: {shown if total else denial}{', but not after correction for all maps' if total else ''}.",
        value=total,
        effect=total / n,
        null="no head has an effect (Simes' test of the p-values of the map)",
        p=found.global_p,
        heads=named,
    )


def gini(size: Array) -> Array:
    """Gini coefficient over the last axis: 0 when all heads are equal, towards 1 when one holds everything."""
    ordered = np.sort(size, axis=-1)
    n = ordered.shape[-1]
    ranks = np.arange(1, n + 1, dtype=ordered.dtype)
    total = ordered.sum(axis=-1, dtype=float)
    weighted = (ordered * ranks).sum(axis=-1, dtype=float)
    return 2 * weighted / (n * np.where(total > 0, total, 1)) - (n + 1) / n


def holding(size: Array, share: float) -> int:
    """The smallest number of heads that hold this share of the mass."""
    ordered = np.sort(size)[::-1]
    return int(np.searchsorted(np.cumsum(ordered), share * ordered.sum() * (1 - 1e-12)) + 1)


def sparsity(nulls: Nulls) -> Statement:
    found = nulls.map
    observed = float(gini(found.size))
    draws = gini(np.abs(nulls.dense()))
    held = [holding(found.size, share) for share in (0.5, 0.8, 0.9)]
    shown = (
        f"{held[0]} of {len(found.size)} heads hold half of the mass (80 %: {held[1]}, 90 %: {held[2]}); Gini "
        f"{observed:.2f}, {draws.mean():.2f} expected"
    )
    return Statement(
        "sparsity",
        (found.task,),
        f"{found.task} is sparser than if all heads took part alike: {shown}.",
        f"{found.task} is not shown to be sparser than if all heads took part alike: {shown}.",
        value=observed,
        effect=observed - float(draws.mean()),
        null=DENSE,
        observed=observed,
        draws=draws,
    )


def outliers(nulls: Nulls) -> Statement:
    """Heads far above what is usual in their layer and the two beside it, in units of that and of their own noise."""
    found = nulls.map
    usual = _usual(found, found.size[None])[0]
    ratio = np.where(found.above | (not found.has_p), found.size / np.hypot(usual / 0.6745, found.stderr), 0.0)
    drawn = np.abs(nulls.trend(usual))
    highest = (drawn / np.hypot(_usual(found, drawn) / 0.6745, found.stderr)).max(axis=1)
    # A single-step max-T over heads, ten times stricter than usual because the sentence itself is one of many.
    beyond = ratio > np.quantile(highest, 0.995)
    order = np.argsort(-ratio, kind="stable")
    named = found.names(order[beyond[order]])
    first = order[0]
    times = float(found.size[first] / usual[first]) if usual[first] > 0 else float("inf")
    place = f"L{found.layer[first]}H{found.head[first]}"
    share = percent(float(found.size[first] / found.size.sum()))
    compared = f"{times:.0f} times the median of its layer and the layers beside it ({share} of the mass)"
    if len(named) == 1:
        claim = f"{found.task}: {place} stands out from the trend of the layers, at {compared}."
    else:
        who = f"{len(named)} heads stand out from the trend of the layers: {heads_in_words(named)}"
        claim = f"{found.task}: {who}; {place} is at {compared}."
    return Statement(
        "outliers",
        (found.task,),
        claim,
        f"{found.task}: no head is shown to stand out from the trend of the layers; the farthest, {place}, is at "
        f"{compared}.",
        value=len(named),
        effect=times,
        null=TREND,
        observed=float(ratio.max()),
        draws=highest,
        heads=named,
    )


def _usual(found: TaskMap, size: Array) -> Array:
    """The median |value| of each layer, averaged with the layers beside it, at every head: [draw, n]."""
    medians = np.stack([np.median(size[:, own], axis=1) for own in found.by_layer], axis=1)
    padded = np.pad(medians, ((0, 0), (1, 1)), mode="edge")
    smooth = (padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]) / 3
    return smooth[:, np.unique(found.layer, return_inverse=True)[1]]
