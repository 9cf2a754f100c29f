"""Statistics of two maps with intervals that are about examples."""

from __future__ import annotations

import numpy as np
from scipy import stats

from headatlas.patterns.compare.noise import Noise, Statistic, jackknife_error, reach
from headatlas.patterns.compare.result import Estimate
from headatlas.stats import Array

# Fisher's transformation is taken of correlations times this: near 1 it is so steep that a change of 0.0001 would count
# as much as one of 0.1 elsewhere.
SHORTENED = 0.99

Values = tuple[Array, Array]
Noises = tuple[Noise | None, Noise | None]


def with_interval(statistic: Statistic, values: Values, noises: Noises) -> Estimate:
    """A statistic of two maps with its 95 % interval; without one where the noise of a map is not known."""
    value = float(statistic(*values))
    first, second = noises
    if first is None or second is None:
        return Estimate(value)
    half = reach(first, second) * jackknife_error(statistic, values, (first, second))
    return Estimate(value, value - half, value + half)


def correlation_with_interval(correlation: Statistic, values: Values, noises: Noises) -> Estimate:
    """The same of a correlation, by Fisher's transformation."""

    def transformed(x: Array, y: Array) -> Array:
        return np.arctanh(SHORTENED * correlation(x, y))

    estimate = with_interval(transformed, values, noises)
    bounds = np.tanh([estimate.value, estimate.low, estimate.high]) / SHORTENED
    return Estimate(*(float(bound) for bound in np.clip(bounds, -1, 1)))


def rank_correlation(first: Array, second: Array) -> Array:
    """Spearman's, of [..., n] and [..., n]."""
    standardised = []
    for values in (first, second):
        ranks = stats.rankdata(values, axis=-1)
        ranks -= ranks.mean(axis=-1, keepdims=True)
        sizes = np.sqrt(np.square(ranks).sum(axis=-1, keepdims=True))
        standardised.append(ranks / np.where(sizes > 0, sizes, 1))
    product: Array = (standardised[0] * standardised[1]).sum(axis=-1)
    return product
