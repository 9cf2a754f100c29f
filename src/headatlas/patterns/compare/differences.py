"""Heads whose values differ between two maps beyond the noise of both."""

from __future__ import annotations

import numpy as np

from headatlas.patterns.compare.noise import Noise, share_examples
from headatlas.patterns.maps import TaskMap
from headatlas.stats import Array, Summary, estimate


def differences(maps: tuple[TaskMap, TaskMap], noises: tuple[Noise | None, Noise | None]) -> Summary | None:
    """First less second for every head [n], with interval and p-value; None where a map has no errors.

    Maps of the same examples are compared set by set of examples: what both share cancels. Otherwise, and where the
    noise of a map is not known, both errors count in full, which is conservative if the examples are the same after
    all.
    """
    first, second = maps
    if not (first.has_errors and second.has_errors):
        return None
    difference = first.value - second.value
    if noises[0] is None or noises[1] is None:
        return _from_errors(difference, first, second)
    if share_examples(*noises):
        parts = noises[0].parts - noises[1].parts
        beyond = np.square(noises[0].beyond) + np.square(noises[1].beyond)
        variance, df = np.square(parts).sum(0) + beyond, np.full(len(difference), len(parts) - 1.0)
        cubes = (parts**3).sum(0)
    else:
        totals = [noise.total for noise in noises if noise is not None]
        variances = [np.square(total).sum(0) for total in totals]
        variance = variances[0] + variances[1]
        df = _welch(variances, [len(total) - 1 for total in totals])
        cubes = (totals[0] ** 3).sum(0) - (totals[1] ** 3).sum(0)
    stderr = np.sqrt(variance)
    skewness = np.divide(cubes, stderr**3, out=np.zeros_like(stderr), where=stderr > 0)
    return estimate(difference, stderr, df, min(len(noise.parts) for noise in noises if noise is not None), skewness)


def _from_errors(difference: Array, first: TaskMap, second: TaskMap) -> Summary:
    """From standard errors alone. Nothing is known of skewness, so degrees of freedom are those of the map with fewer
    groups."""
    stderr = np.hypot(first.stderr, second.stderr)
    df = min(first.df, second.df)
    finite = df if np.isfinite(df) else 1e6
    return estimate(difference, stderr, np.full(len(difference), finite), 0)


def _welch(variances: list[Array], dfs: list[int]) -> Array:
    """Degrees of freedom of a sum of two independent variances (Satterthwaite)."""
    total = variances[0] + variances[1]
    parts = sum(np.square(variance) / df for variance, df in zip(variances, dfs, strict=True))
    return np.divide(np.square(total), parts, out=np.full_like(total, float(min(dfs))), where=parts > 0)
