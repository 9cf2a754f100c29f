"""Do the methods of an atlas rank the heads alike, and the seeds of a method?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from headatlas.patterns.agreement import (
    MapPair,
    both_signed,
    comparable,
    compare,
    method_pairs,
    rank_correlation,
)
from headatlas.patterns.correction import exact_score
from headatlas.patterns.denoise import effect_draws
from headatlas.patterns.finding import Statement
from headatlas.patterns.kind import Kind
from headatlas.patterns.maps import TaskMap, read_seed_maps
from headatlas.patterns.nulls import NOISE
from headatlas.stats import Array
from headatlas.wording import signed

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

NULL_DRAWS = 100  # a mean of rank correlations is so nearly normal that only its spread must be drawn
RANDOM_ORDER = f"the effects of both maps on heads in random order, {NOISE}"


@dataclass(frozen=True)
class MapPairs:
    """Pairs of maps, each of one task, by two methods or two seeds of a method.

    `methods` is the name of the method, or of both, and `title` what the two sides are called in a sentence.
    """

    title: str
    methods: str
    pairs: Sequence[MapPair]
    draws: int
    rng: np.random.Generator


def pair_methods(atlas: Atlas, first: str, second: str, level: float, draws: int, rng: np.random.Generator) -> MapPairs:
    """The tasks in which at least one of both maps holds effects at this level: methods may share examples and noise.

    A map without p-values is taken as it is.
    """
    pairs = [
        (a, b)
        for a, b in method_pairs(atlas, first, second)
        if not (a.has_p and b.has_p) or min(a.global_p, b.global_p) <= level
    ]
    return MapPairs(f"{first} and {second}", f"{first}, {second}", pairs, draws, rng)


def pair_seeds(
    atlas: Atlas, method: str, measure: str, tasks: Sequence[str], draws: int, rng: np.random.Generator
) -> MapPairs:
    """All pairs of seeds of a method, of these tasks."""
    pairs: list[MapPair] = []
    for task in tasks:
        pairs += comparable(combinations(read_seed_maps(atlas, method, measure, task).values(), 2))
    return MapPairs(f"different seeds of {method}", method, pairs, draws, rng)


def nothing_in_common(map_pairs: MapPairs) -> str | None:
    return None if map_pairs.pairs else "no task was measured by both on enough heads that hold effects"


def method_agreement(map_pairs: MapPairs) -> list[Statement]:
    each = [compare(first, second) for first, second in map_pairs.pairs]
    k, shared, expected = (sum(getattr(one, name) for one in each) for name in ("k", "shared", "expected"))
    return [_alike(map_pairs, f"{shared} of their {k} top heads are the same, {expected:.0f} expected by chance")]


def seed_stability(map_pairs: MapPairs) -> list[Statement]:
    return [_alike(map_pairs, "seeds share their examples, so this says nothing about other examples")]


def _alike(map_pairs: MapPairs, note: str) -> Statement:
    """The mean rank correlation over all pairs."""
    pairs, rng = map_pairs.pairs, map_pairs.rng
    correlations = np.array([rank_correlation(first, second) for first, second in pairs])
    drawn = np.mean([_null_correlations(first, second, rng) for first, second in pairs], axis=0)
    mean, expected = float(correlations.mean()), float(drawn.mean())
    t = (mean - expected) / drawn.std(ddof=1)
    p = float(2 * stats.t.sf(abs(t), NULL_DRAWS - 1))
    observed, draws = exact_score(p, map_pairs.draws, rng)
    tasks = tuple(dict.fromkeys(first.task for first, _ in pairs))
    fewest, most = (pick(len(first.value) for first, _ in pairs) for pick in (min, max))
    heads = f"{fewest} heads" if fewest == most else f"{fewest} to {most} heads"
    extremes = f" (from {signed(correlations.min())} to {signed(correlations.max())})" if len(pairs) > 1 else ""
    over = f"{len(tasks)} tasks" if len(tasks) > 1 else tasks[0]
    numbers = f"mean rank correlation {signed(mean)}{extremes} over {over}, on {heads}; {note}"
    who = map_pairs.title[0].upper() + map_pairs.title[1:]
    return Statement(
        tasks,
        f"{who} rank heads {'alike' if mean > 0 else 'in opposite order'}: {numbers}.",
        f"{who} are not shown to rank heads alike: {numbers}.",
        value=mean,
        effect=mean - expected,
        observed=observed,
        draws=draws,
        p=p,
    )


def _null_correlations(first: TaskMap, second: TaskMap, rng: np.random.Generator) -> Array:
    """Rank correlations of both maps with their effects in random order."""
    use_signs = both_signed(first, second)
    standardised = []
    for task_map in (first, second):
        effects = effect_draws(task_map.value, task_map.stderr, rng)
        drawn = rng.permuted(effects[rng.integers(len(effects), size=NULL_DRAWS)], axis=1)
        drawn = drawn + task_map.stderr * rng.standard_normal(drawn.shape)
        ranks = stats.rankdata(drawn if use_signs else np.abs(drawn), axis=1)
        ranks -= ranks.mean(axis=1, keepdims=True)
        standardised.append(ranks / np.sqrt((ranks**2).sum(axis=1, keepdims=True)))
    return (standardised[0] * standardised[1]).sum(axis=1)


AGREEMENT = Kind(
    name="agreement",
    question="Do two methods rank the heads alike?",
    null=RANDOM_ORDER,
    answer=method_agreement,
    obstacle=nothing_in_common,
)
STABILITY = Kind(
    name="stability",
    question="Do different seeds of a method rank the heads alike?",
    null=RANDOM_ORDER,
    answer=seed_stability,
)
