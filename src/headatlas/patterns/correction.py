"""One correction over all statements of an atlas, in two families of 2.5 % each.

The first family asks of every map whether it holds any effect: Holm's correction over the maps. Only maps that pass
have a shape that could be described, so maps of pure noise are stopped here, whatever is asked of them later.

The second family is everything else: single-step max-T (Westfall and Young). Every statistic becomes a normal score by
its own null, so that statistics of different kinds can be compared; the adjusted p-value of a statement is the share of
null draws in which *any* statement scores as high. Unlike Bonferroni's it needs no more draws for more statements.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from headatlas.patterns.finding import Statement
from headatlas.stats import LEVEL, Array

FAMILIES = 2
FAMILY_LEVEL = LEVEL / FAMILIES


def holm(p: Sequence[float]) -> Array:
    """Adjusted p-values of the first family."""
    order = np.argsort(p, kind="stable")
    steps = np.asarray(p, dtype=float)[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(steps)
    return np.minimum(1.0, FAMILIES * adjusted)


def max_t(statements: Sequence[Statement]) -> tuple[Array, Array, Array]:
    """Score, p and adjusted p of every statement of the second family."""
    scores, p = np.empty(len(statements)), np.empty(len(statements))
    highest = np.full((len(statements[0].draws) + 1) // 2 if statements else 0, -np.inf)
    for i, statement in enumerate(statements):
        scores[i], null = normal_scores(statement)
        p[i] = statement.p if statement.p is not None else _monte_carlo_p(statement)
        highest = np.maximum(highest, null)
    adjusted = np.array([tail_share(score, highest) for score in scores])
    return scores, p, np.minimum(1.0, FAMILIES * np.maximum(adjusted, p))


def tail_share(observed: float, null: Array) -> float:
    """Monte Carlo p-value. The observed statistic counts as a draw, so it is never 0."""
    return float((1 + np.count_nonzero(null >= observed)) / (len(null) + 1))


def _monte_carlo_p(statement: Statement) -> float:
    upper = tail_share(statement.observed, statement.draws)
    if statement.sides == 1:
        return upper
    return min(1.0, 2 * min(upper, tail_share(-statement.observed, -statement.draws)))


def normal_scores(statement: Statement) -> tuple[float, Array]:
    """The observed statistic and half of its null draws as scores that are about standard normal under the null.

    The other half of the draws gives the scale: mean, spread and skewness, with Wilson and Hilferty's cube root. The
    scale has seen neither the observed statistic nor the draws that it measures, so both are treated alike. A poor fit
    costs power for that statement and never makes the correction wrong.
    """
    draws = np.asarray(statement.draws, dtype=float)
    half = len(draws) // 2
    if statement.p is not None:
        return statement.observed, draws[half:]
    reference = draws[:half]
    centre, spread = reference.mean(), reference.std()
    if not spread > 1e-12 * max(1.0, abs(centre)):
        return -np.inf, np.full(len(draws) - half, -np.inf)  # all draws are equal: nothing can be said
    skew = float(np.mean(((reference - centre) / spread) ** 3))
    scores = (np.append(draws[half:], statement.observed) - centre) / spread
    if abs(skew) > 1e-3:
        scores = 6 / skew * (np.cbrt(1 + skew * scores / 2) - 1) + skew / 6
    scores = np.abs(scores) if statement.sides == 2 else scores
    return float(scores[-1]), scores[:-1]


def exact_score(p: float, draws: int, rng: np.random.Generator) -> tuple[float, Array]:
    """The normal score of a p-value that is known exactly, and what such scores are under the null."""
    return float(stats.norm.isf(np.clip(p, 1e-300, 1 - 1e-16))), rng.standard_normal(draws)
