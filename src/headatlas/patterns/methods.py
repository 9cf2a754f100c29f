"""Do the methods of an atlas rank the heads alike, and the seeds of a method?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from headatlas.patterns.agreement import both_signed, comparable, compare, paired_maps, rank_correlation
from headatlas.patterns.correction import exact_score
from headatlas.patterns.denoise import effect_draws
from headatlas.patterns.finding import Statement, Untested
from headatlas.patterns.maps import TaskMap, seed_maps
from headatlas.patterns.words import signed
from headatlas.stats import Array

if TYPE_CHECKING:
    from headatlas.atlas.reading import Atlas

STRONGEST = 10  # heads of which it is said how many are the same
DRAWS = 100  # a mean of rank correlations is so nearly normal that its spread is all that must be drawn
PAIRS = "the effects of both maps on heads in random order, each with the noise of its own standard error"


def method_agreement(atlas: Atlas, draws: int, rng: np.random.Generator, level: float) -> list[Statement | Untested]:
    """One statement a pair of methods: the mean rank correlation over the tasks.

    Methods may share examples and so noise: tasks count where at least one of both maps holds effects.
    """
    made: list[Statement | Untested] = []
    for one, other in combinations(atlas.methods, 2):
        pairs = [
            (a, b)
            for a, b in paired_maps(atlas, one, other)
            if not (a.has_p and b.has_p) or min(a.global_p, b.global_p) <= level
        ]
        title = f"{one} and {other}"
        if not pairs:
            made.append(Untested("agreement", title, "no task was measured by both on enough heads that hold effects"))
            continue
        _, _, k, same, chance, _ = np.sum([compare(a, b, STRONGEST) for a, b in pairs], axis=0)
        tops = f"{same:.0f} of their {k:.0f} strongest heads are the same, {chance:.0f} expected by chance"
        made.append(_alike("agreement", pairs, title, tops, draws, rng, method=f"{one}, {other}"))
    return made


def seed_stability(
    atlas: Atlas, method: str, measure: str, maps: Sequence[TaskMap], draws: int, rng: np.random.Generator
) -> list[Statement | Untested]:
    """Do different seeds of the method rank the heads alike? Of the tasks whose maps hold effects."""
    pairs = []
    for found in maps:
        own = seed_maps(atlas, method, measure, found.task)
        pairs += comparable(combinations(own.values(), 2))
    if not pairs:
        return []
    note = "seeds share their examples, so this says nothing about other examples"
    return [_alike("stability", pairs, f"different seeds of {method}", note, draws, rng, method=method)]


def _alike(
    kind: str,
    pairs: Sequence[tuple[TaskMap, TaskMap]],
    who: str,
    note: str,
    draws: int,
    rng: np.random.Generator,
    method: str,
) -> Statement:
    each = np.array([rank_correlation(a, b) for a, b in pairs])
    drawn = np.mean([_exchanged(a, b, rng) for a, b in pairs], axis=0)
    t = (each.mean() - drawn.mean()) / drawn.std(ddof=1)
    p = float(2 * stats.t.sf(abs(t), DRAWS - 1))
    observed, null = exact_score(p, draws, rng)
    tasks = tuple(dict.fromkeys(a.task for a, _ in pairs))
    heads = sorted({len(a.value) for a, _ in pairs})
    over = f"{heads[0]} heads" if len(heads) == 1 else f"{heads[0]} to {heads[-1]} heads"
    between = f" (from {signed(each.min(), 2)} to {signed(each.max(), 2)})" if len(each) > 1 else ""
    of = f"{len(tasks)} tasks" if len(tasks) > 1 else tasks[0]
    shown = f"mean rank correlation {signed(each.mean(), 2)}{between} over {of}, on {over}; {note}"
    how = "alike" if each.mean() > 0 else "in opposite order"
    return Statement(
        kind,
        tasks,
        f"{who[0].upper()}{who[1:]} rank heads {how}: {shown}.",
        f"{who[0].upper()}{who[1:]} are not shown to rank heads alike: {shown}.",
        value=float(each.mean()),
        effect=float(each.mean() - drawn.mean()),
        null=PAIRS,
        observed=observed,
        draws=null,
        p=p,
        method=method,
    )


def _exchanged(a: TaskMap, b: TaskMap, rng: np.random.Generator) -> Array:
    """Rank correlations of both maps with their effects in random order."""
    signed = both_signed(a, b)
    ranks = []
    for found in (a, b):
        effects = effect_draws(found.value, found.stderr, rng)
        drawn = rng.permuted(effects[rng.integers(len(effects), size=DRAWS)], axis=1)
        drawn = drawn + found.stderr * rng.standard_normal(drawn.shape)
        ranked = stats.rankdata(drawn if signed else np.abs(drawn), axis=1)
        ranked -= ranked.mean(axis=1, keepdims=True)
        ranks.append(ranked / np.sqrt((ranked**2).sum(axis=1, keepdims=True)))
    return (ranks[0] * ranks[1]).sum(axis=1)
