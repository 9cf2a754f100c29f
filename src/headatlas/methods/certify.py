"""Certified effects: estimated on many examples, measured exactly on some, corrected without bias.

Prediction-powered inference (Angelopoulos et al. 2023; tuned as in PPI++): with attribution A on all N examples and the
exact effect X on n of them, drawn with known probabilities, theta = lam * mean(A) + mean over the drawn ones of
(X - lam * A) / (N p). Whatever A is worth, theta has no bias; where A is good its interval is almost that of X on all.
Examples on which a head was measured for sure, whatever the draw, count with their exact effects, and the draw speaks
for the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from headatlas.stats import Array, Summary, clustered_moments, effective_groups, estimate, summarise

MISSED_TURNS = 6  # residuals have heavy tails, and few turns miss them: n turns see n / (n + 6) of the variance


@dataclass(frozen=True)
class Draw:
    """Examples to measure exactly: with replacement, each turn taking example i with probability `chance[i]`.

    `turns` holds the example of each turn.
    """

    turns: NDArray[np.int64]
    chance: Array

    @property
    def examples(self) -> NDArray[np.int64]:
        """The distinct examples, in order."""
        return np.unique(self.turns)

    @property
    def weights(self) -> Array:
        """[turn]: 1 / (N p), so that the mean of weighted values over turns estimates the mean over all examples."""
        return 1 / (len(self.chance) * self.chance[self.turns])

    def first(self, turns: int) -> Draw:
        return replace(self, turns=self.turns[:turns])


def draw_examples(size: Array, cost: Array, turns: int, rng: np.random.Generator) -> Draw:
    """Draw examples to measure: often where effects may be large, and where they cost little.

    Where attribution is wrong it is wrong in proportion to the `size` of effects [example, head], so drawing large
    examples more often makes the weighted residuals alike: the correction has less noise and lighter tails than with
    equal chances. Dividing by the `cost` of measuring an example [example] buys more turns for the same work. A third
    of the chance is spread evenly, so that no weight is more than three.
    """
    worth, even = np.sqrt(np.square(size / np.maximum(root_mean_square(size), 1e-12)).mean(1)) / cost, 1 / len(size)
    chance = even / 3 + 2 / 3 * worth / worth.sum() if worth.sum() > 0 else np.full(len(size), even)
    return Draw(rng.choice(len(size), size=turns, p=chance / chance.sum()), chance / chance.sum())


def root_mean_square(values: Array) -> Array:
    """Of each column."""
    return np.sqrt(np.square(values).mean(0))


@dataclass(frozen=True)
class Certified:
    """`summary` holds values, errors and p-values, with the degrees of freedom of every head.

    `exact` [head] counts the examples that were measured exactly. `variance_left` [head]: the share of the exact
    effects' variance that attribution does not explain. `same_sign` [head]: the share of turns in which both have the
    same sign.
    """

    summary: Summary
    exact: NDArray[np.int64]
    variance_left: Array
    same_sign: Array


def certify(
    attributed: Array, exact: Array, draw: Draw, groups: Sequence[str], looked: NDArray[np.bool_] | None = None
) -> Certified:
    """Certified mean effects from attributions [example, head] and exact effects [example, head] of drawn examples, and
    of those that each head was `looked` at on [example, head], whatever was drawn."""
    looked = np.zeros(attributed.shape, dtype=bool) if looked is None else looked
    a, x, w = attributed[draw.turns], exact[draw.turns], draw.weights[:, None]
    terms, coefficients = estimates_by_turn(attributed, exact, draw, looked)
    n, clusters, df = len(terms), len(set(groups)), effective_groups(groups) - 1
    correction = moderated_variance(terms.var(0, ddof=1), n - 1, root_mean_square(attributed))
    drawn = correction.variance / n * (1 + MISSED_TURNS / n)
    # The examples themselves are a sample: the spread of their effects is that of what is known of each of them, and of
    # what attributions leave unexplained of the others.
    spread, skewness = clustered_moments(np.where(looked, exact, coefficients.mean(0) * attributed), groups)
    others = np.where(looked[draw.turns], 0, np.square(x - coefficients * a))
    sampled = spread + (w * others).mean(0) / len(attributed)
    variance = sampled + drawn
    # The skewness of a sum: third moments add up, and only that of the sampled part is known.
    part = np.divide(spread, variance, out=np.zeros_like(variance), where=variance > 0)
    parts = np.square(sampled) / df + np.square(drawn) / correction.df
    # Never more than the groups allow: both parts are estimated from the same few groups.
    dfs = np.minimum(df, np.divide(np.square(variance), parts, out=np.full_like(variance, df), where=parts > 0))
    measured = looked.copy()
    measured[draw.examples] = True
    return Certified(
        estimate(terms.mean(0), np.sqrt(variance), dfs, clusters, skewness * part**1.5),
        measured.sum(0),
        _variance_left(a, x, w),
        (np.sign(a) == np.sign(x)).mean(0),
    )


def estimates_by_turn(
    attributed: Array, exact: Array, draw: Draw, looked: NDArray[np.bool_] | None = None
) -> tuple[Array, Array]:
    """[turn, head]: what each turn says of the mean effect over all examples, without bias; and its lambda."""
    looked = np.zeros(attributed.shape, dtype=bool) if looked is None else looked
    a, x, w = attributed[draw.turns], exact[draw.turns], draw.weights[:, None]
    coefficients = _cross_fitted(a, x, w, np.square(attributed).mean(0))
    known, others = np.where(looked, exact, 0).mean(0), np.where(looked, 0, attributed).mean(0)
    corrections = np.where(looked[draw.turns], 0, w * (x - coefficients * a))
    return known + coefficients * others + corrections, coefficients


def _variance_left(a: Array, x: Array, w: Array) -> Array:
    """Of exact effects x [turn, head] with attributions a and weights w."""
    spread = (w * np.square(x - (w * x).sum(0) / w.sum(0))).mean(0)
    return np.divide((w * np.square(x - a)).mean(0), spread, out=np.full_like(spread, np.nan), where=spread > 0)


def certify_all(exact: Array, groups: Sequence[str], attributed: Array | None = None) -> Certified:
    """The same where every example was measured: there is nothing to correct, and attributions are only judged."""
    summary = summarise(exact, groups)
    a = exact if attributed is None else attributed
    left, same_sign = _variance_left(a, exact, np.ones((len(exact), 1))), (np.sign(a) == np.sign(exact)).mean(0)
    return Certified(summary, np.full(exact.shape[1], len(exact)), left, same_sign)


def negative(certified: Certified) -> Certified:
    """The same of effects with the other sign: a loss as a gain."""
    summary = certified.summary
    turned = replace(summary, mean=-summary.mean, low=-summary.high, high=-summary.low, skewness=-summary.skewness)
    return replace(certified, summary=turned)


def _cross_fitted(a: Array, x: Array, w: Array, prior: Array) -> Array:
    """lambda [turn, head]: the slope of exact on attributed effects over all other turns, drawn towards 1.

    Turns are drawn independently, so leaving out the turn itself keeps the estimate unbiased. Few turns say little
    about a slope, so it counts as if as many turns with slope 1 and the mean square `prior` had been seen.
    """
    products, squares = w * a * x, w * a * a
    weight = np.maximum(prior * len(a), 1e-12)
    return (products.sum(0) - products + weight) / (squares.sum(0) - squares + weight)


@dataclass(frozen=True)
class Moderated:
    """Variances that borrow strength from all heads, and the degrees of freedom they then have."""

    variance: Array
    df: float


def moderated_variance(variance: Array, df: int, scale: Array) -> Moderated:
    """Empirical Bayes (Smyth 2004), with a trend: heads with large effects have large residuals.

    With few turns a head may have missed its large residuals, and its variance is then far too small. What variance a
    head of its `scale` has is estimated from all heads, and averaged with its own by degrees of freedom.
    """
    from scipy import special

    known = (variance > 0) & (scale > 0)
    if known.sum() < 10:
        return Moderated(variance, float(df))
    centred = np.log(variance[known]) - special.digamma(df / 2) + np.log(df / 2)
    trend = np.polyfit(np.log(scale[known]), centred, 1)
    excess = float(np.var(centred - np.polyval(trend, np.log(scale[known])), ddof=2) - special.polygamma(1, df / 2))
    prior_df = 2 * _inverse_trigamma(excess) if excess > 1e-6 else 1e6
    prior = np.exp(np.polyval(trend, np.log(np.maximum(scale, 1e-300))))
    moderated = np.where(scale > 0, (prior_df * prior + df * variance) / (prior_df + df), variance)
    return Moderated(moderated, prior_df + df)


def _inverse_trigamma(y: float) -> float:
    """Newton's method on 1 / trigamma, which is convex and nearly linear."""
    from scipy import special

    x = 0.5 + 1 / y
    for _ in range(50):
        value = special.polygamma(1, x)
        step = value * (1 - value / y) / special.polygamma(2, x)
        x += step
        if -step / x < 1e-8:
            break
    return float(x)
