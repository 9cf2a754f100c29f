"""Bootstrap intervals for means over examples that are clustered by group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headatlas.stats import Array

DRAWS = 2000
SEED = 11


def bootstrap_interval(
    values: Array, groups: Sequence[str], weights: Array | None = None, draws: int = DRAWS
) -> tuple[Array, Array]:
    """95 % percentile intervals (low, high), each [column], of the mean of values [example, column].

    Whole groups are drawn with replacement. With `weights` [example] it is the ratio of the sum of values to the sum of
    weights, as for a mean over tokens of sums over tokens. The draws are the same at every call, so that columns and
    calls over the same groups can be compared.
    """
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    clusters = int(codes.max()) + 1
    if clusters < 2:
        missing = np.full(values.shape[1], np.nan)
        return missing, missing
    sums = np.zeros((clusters, values.shape[1]))
    np.add.at(sums, codes, values)
    sizes = np.bincount(codes, weights=weights, minlength=clusters)
    times = np.random.default_rng(SEED).multinomial(clusters, np.full(clusters, 1 / clusters), size=draws)
    means = (times @ sums) / (times @ sizes)[:, None]
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    return low, high
