"""Intervals, p-values and false-discovery control for effects that are clustered by group.

scipy.stats is imported where it is used: it takes half a second, and help texts import this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEVEL = 0.05  # of every test, and of the false-discovery rate among heads


@dataclass(frozen=True)
class Summary:
    """Mean effect of each column, its clustered standard error, the two-sided p-value of "no effect", and the number of
    groups behind them."""

    mean: Array
    stderr: Array
    p_value: Array
    groups: int


def summarise(effects: Array, groups: Sequence[str]) -> Summary:
    """Mean over examples [example, column] with a standard error that treats examples of a group as one observation.

    Cluster-robust (CR1) variance of the mean; p from Student's t with groups - 1 degrees of freedom.
    """
    from scipy import stats

    n = len(effects)
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    clusters = int(codes.max()) + 1
    mean = effects.mean(axis=0)
    sums = np.zeros((clusters, effects.shape[1]))
    np.add.at(sums, codes, effects - mean)
    if clusters < 2:
        return Summary(mean, np.full_like(mean, np.nan), np.full_like(mean, np.nan), clusters)
    stderr = np.sqrt(clusters / (clusters - 1) * np.square(sums).sum(axis=0)) / n
    # A head without any effect has mean 0 and error 0: that is no evidence, p = 1.
    t = np.divide(np.abs(mean), stderr, out=np.where(mean == 0, 0.0, np.inf), where=stderr > 0)
    return Summary(mean, stderr, 2 * stats.t.sf(t, clusters - 1), clusters)


def half_width(groups: int) -> float:
    """How many standard errors a 95 % interval reaches to each side of a mean over so many groups."""
    from scipy import stats

    return float(stats.t.ppf(0.975, groups - 1)) if groups > 1 else float("nan")


def q_values(p_values: Array) -> Array:
    """Benjamini-Hochberg adjusted p-values; missing ones stay missing and do not count."""
    from scipy import stats

    known = np.isfinite(p_values)
    q = np.full_like(p_values, np.nan)
    if known.any():
        q[known] = stats.false_discovery_control(p_values[known])
    return q


def proportion_interval(hits: Array, groups: Sequence[str]) -> tuple[float, float]:
    """95 % interval of a share of hits (0 or 1 each), clustered by group.

    Wilson's interval with the effective number of observations: what the clustered error implies, at least what groups
    of these sizes are worth if their members always agree (Kish), at most the examples; and with Student's t for the
    number of groups. Unlike a bootstrap it does not collapse when all or none are hits. Where one group holds most of
    the examples no interval from one sample is to be trusted.
    """
    n, sizes = len(hits), np.unique(np.asarray(groups), return_counts=True)[1]
    if len(sizes) < 2:
        return 0.0, 1.0
    share = float(np.mean(hits))
    stderr = summarise(np.asarray(hits, dtype=float)[:, None], groups).stderr[0]
    kish = n**2 / float(np.square(sizes).sum())
    implied = share * (1 - share) / stderr**2 if 0 < share < 1 and stderr > 0 else kish
    size = float(np.clip(implied, kish, n))
    z = half_width(len(sizes))
    centre = (share + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z / (1 + z**2 / size) * np.sqrt(share * (1 - share) / size + z**2 / (4 * size**2))
    low, high = float(max(0.0, centre - half)), float(min(1.0, centre + half))
    return 0.0 if share == 0 else low, 1.0 if share == 1 else high


def resamples(groups: Sequence[str], draws: int = 2000, seed: int = 0) -> Array:
    """Clustered bootstrap: how often each example counts when groups are drawn with replacement, [draw, example]."""
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    count = int(codes.max()) + 1
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=draws)
    return drawn[:, codes].astype(np.float64)


def expanded_percentiles(drawn: Array, groups: int) -> tuple[Array, Array]:
    """The 95 % interval of bootstrap statistics [draw, ...], widened for few groups (Hesterberg 2015).

    Plain percentiles are too narrow by a factor of sqrt((g - 1) / g) and for lack of Student's t.
    """
    from scipy import stats

    if groups < 2:
        missing = np.full(drawn.shape[1:], np.nan)
        return missing, missing
    tail = float(stats.norm.cdf(-np.sqrt(groups / (groups - 1)) * half_width(groups)))
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return low, high


def bootstrap_mean(values: Array, groups: Sequence[str], sizes: Array | None = None) -> tuple[Array, Array]:
    """The 95 % interval of the mean over examples [example, ...], clustered by group.

    With `sizes` [example] it is that of the sum of values over the sum of sizes, as for a mean over tokens.
    """
    times = resamples(groups)
    total = times.sum(1) if sizes is None else times @ sizes
    drawn = np.tensordot(times, values, axes=(1, 0)) / total.reshape(-1, *[1] * (values.ndim - 1))
    return expanded_percentiles(drawn, len(set(groups)))


def elbow(values: Array) -> int:
    """How many sizes of `values` lie before the elbow of their sorted curve: its largest distance to the chord."""
    curve = np.sort(np.abs(values[np.isfinite(values)]))[::-1]
    if len(curve) < 3 or curve[0] == curve[-1]:
        return 1
    height = (curve - curve[-1]) / (curve[0] - curve[-1])
    return max(1, int(np.argmax(1 - np.linspace(0, 1, len(curve)) - height)))


def overlap(first: Array, second: Array, k: int) -> float:
    """The share of the k largest sizes that two maps have in common."""
    top = [set(np.argsort(-np.abs(values), kind="stable")[:k].tolist()) for values in (first, second)]
    return len(top[0] & top[1]) / k
