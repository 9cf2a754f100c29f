"""A race for the strongest heads: exact measurements go where they decide which heads are the first K.

The question is which K heads would have the largest effects if every head were measured on every one of these examples.
So the only chance is in the draw of examples, and a head that has been measured on all of them has no error left.

Every head is measured on a few drawn examples, and heads that may matter also where their effects may be largest. The
K heads with the largest estimates are then measured on all: they set the bar. Heads that may still be on either side of
it are measured on twice and then six times as many drawn examples, and in the end on all, those that reach highest
first, until every head is settled or the budget is spent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headatlas.atlas.records import (
    AMONG_FIRST,
    EXACT_SHARE,
    FIRST_ASKED,
    FIRST_CONFIDENCE,
    FIRST_SETTLED,
    MAY_BE_FIRST,
    ODD_ALLOWED,
    ODD_ERROR,
    UNSETTLED,
    Diagnostic,
    Head,
)
from headatlas.methods.certify import MISSED_TURNS, estimates_by_turn, moderated_variance, root_mean_square
from headatlas.methods.effects import attributed_both_ways
from headatlas.methods.measurements import (
    EVERY,
    Indices,
    Measure,
    Measurements,
    Part,
    largest,
    measure_parts,
    measure_round,
    parts_by_example,
    with_model,
)
from headatlas.methods.rounds import EVERY_HEAD, begin_rounds
from headatlas.stats import Array

if TYPE_CHECKING:
    from headatlas.run.interventions import Unit
    from headatlas.run.quantity import TaskQuantity

USUAL = 2.0  # standard errors beside such an example; that both are extreme is not to be expected
GLANCES = 4  # examples where the effect of a head may be largest: there it is seen how wrong attribution is
IN_SIGHT = 2.0  # root mean squares of its attributions by which a head may be better than attributed to be glanced at
LEVELS = (1, 2, 6)  # times the turns of the first round, after which heads are compared
FEWEST_FINAL = 8  # heads that are measured on all examples together; fewer would be mostly overhead
MOST_ROUNDS = 16  # after the first; about six are usual
RACE = "the race"  # as its rounds are called while they run, after the first


@dataclass(frozen=True)
class Race:
    """Which `top` of the first `heads` units are the strongest, right with probability `confidence`, from at most the
    share `budget` of their exact effects. `turns` are drawn for every head in the first round. Each head may have `odd`
    unseen examples on which attribution is far off: no draw of a few examples could show them."""

    top: int
    confidence: float
    budget: float
    turns: int
    heads: int
    odd: int = 1

    @property
    def levels(self) -> tuple[int, ...]:
        """Turns of the draw after which heads are compared."""
        return tuple(times * self.turns for times in LEVELS)

    @property
    def tail(self) -> float:
        """The chance of each bound to be wrong: two for every head and level."""
        return (1 - self.confidence) / (2 * len(self.levels) * self.heads)


@dataclass(frozen=True)
class Standing:
    """Estimated effects [head] with their bounds, and which heads are settled to be among the first or not.

    `unsure` marks heads whose bounds more draws would narrow; those of others are as wide as odd examples make.
    """

    value: Array
    low: Array
    high: Array
    inside: NDArray[np.bool_]
    outside: NDArray[np.bool_]
    unsure: NDArray[np.bool_]

    @property
    def unsettled(self) -> Indices:
        return np.flatnonzero(~(self.inside | self.outside))


def measure_in_race(
    title: str,
    quantities: Mapping[str, TaskQuantity],
    mirrors: Mapping[str, TaskQuantity],
    kinds: Sequence[Sequence[Unit]],
    race: Race,
    seed: int,
) -> dict[str, Measurements]:
    """By task: attributed on all examples; units of the first kind race, others are in the first round only."""
    units = [unit for kind in kinds for unit in kind]
    attributed = attributed_both_ways(f"Attribution{title}", quantities, mirrors)
    state = begin_rounds(*attributed, quantities, units, race.turns, seed)
    return run_race(state, race, with_model(title, quantities, units))


def run_race(state: Mapping[str, Measurements], race: Race, measure: Measure) -> dict[str, Measurements]:
    """All tasks go through their rounds side by side, each until it is settled or has spent its budget."""
    every = {task: np.arange(len(measured.turns)) for task, measured in state.items()}
    current = measure_round(state, EVERY_HEAD, every, dict.fromkeys(state, race.turns), measure)
    glances = [part for task, measured in current.items() for part in glance_at(task, measured, race)]
    current = measure_parts(current, RACE, glances, measure)
    for _ in range(1, MOST_ROUNDS):
        moves = {task: next_move(measured, race) for task, measured in current.items()}
        if not any(len(heads) for heads, _ in moves.values()):
            break
        chosen = {task: heads for task, (heads, _) in moves.items()}
        turns = {task: turns for task, (_, turns) in moves.items()}
        current = measure_round(current, RACE, chosen, turns, measure)
    return current


def glance_at(task: str, measured: Measurements, race: Race) -> list[Part]:
    """Heads in sight of the first K by attribution, each on the examples where its effect may be largest.

    Where attention is saturated, attribution misses most of a large effect, and that on few examples: a draw does not
    meet them, but they are those on which attributions are largest, at the prompt or at its twin.
    """
    attributed = measured.attributed[:, : race.heads]
    reach = attributed.mean(0) + IN_SIGHT * root_mean_square(attributed)
    bar = np.sort(attributed.mean(0))[-min(race.top, race.heads)]
    heads = np.argsort(-reach, kind="stable")[: int((reach > bar).sum())]
    heads = heads[: _affords(measured, race, GLANCES)]
    return parts_by_example(task, largest(measured.size, heads, GLANCES) & np.isnan(measured.exact))


def next_move(measured: Measurements, race: Race) -> tuple[Indices, int]:
    """Which heads are measured next, and on the examples of how many turns; no heads where the race is over."""
    now, turns = standing(measured, race), measured.turns[: race.heads]
    leaders = np.argsort(-now.value, kind="stable")[: race.top]
    if len(heads := _affordable(measured, race, now, leaders[turns[leaders] != EVERY], EVERY)):
        return heads, EVERY
    open_heads = now.unsettled[turns[now.unsettled] != EVERY]
    helped = open_heads[now.unsure[open_heads] & (turns[open_heads] < race.levels[-1])]
    if len(helped):
        lowest = turns[helped].min()
        level = race.levels[race.levels.index(int(lowest)) + 1]
        if len(heads := _affordable(measured, race, now, helped[turns[helped] == lowest], level)):
            return heads, level
    heads = _affordable(measured, race, now, open_heads, EVERY)
    return heads[: max(FEWEST_FINAL, -(-len(open_heads) // 2))], EVERY


def _affordable(measured: Measurements, race: Race, now: Standing, heads: Indices, turns: int) -> Indices:
    """The heads that reach highest, as many as the budget allows; all of them on the same examples so far."""
    if not len(heads):
        return heads
    heads = heads[np.argsort(-now.high[heads], kind="stable")]
    heads = heads[measured.turns[heads] == measured.turns[heads[0]]]
    missing = int(np.isnan(measured.exact[np.ix_(measured.examples_of(turns), heads)]).any(1).sum())
    return heads[: _affords(measured, race, missing + GLANCES)]


def _affords(measured: Measurements, race: Race, effects: int) -> int:
    """How many heads the budget allows to be measured on so many more examples."""
    if race.budget == 1:  # glances are repeated, so what is counted may come to more than all
        return race.heads
    left = race.budget * measured.exact[:, : race.heads].size - exact_count(measured, race)
    return max(0, int(left // effects))


def exact_count(measured: Measurements, race: Race) -> int:
    """Exact effects of heads that were measured; those of glances count again where later rounds repeat them."""
    repeated = GLANCES * int((measured.turns[: race.heads] > race.turns).sum())
    return int(np.isfinite(measured.exact[:, : race.heads]).sum()) + repeated


def standing(measured: Measurements, race: Race) -> Standing:
    """Estimates and bounds of every head from all that was measured of it, and what they settle."""
    from scipy import stats

    turns = measured.turns[: race.heads]
    exact = measured.exact[:, : race.heads]
    odd = race.odd * odd_error(measured, race) / len(exact)
    value, reach, unsure = np.full(race.heads, np.nan), np.zeros(race.heads), np.zeros(race.heads, dtype=bool)
    every = turns == EVERY
    value[every] = exact[:, every].mean(0)
    for level in np.unique(turns[~every]):
        known = np.flatnonzero(turns >= level)  # heads that went farther lend their variances
        here = turns[known] == level
        mean, stderr, df = _drawn(measured, known, int(level))
        wide, usual = stats.t.isf(race.tail, df) * stderr, USUAL * stderr + odd
        value[known[here]], unsure[known[here]] = mean[here], (wide > usual)[here]
        reach[known[here]] = np.maximum(wide, usual)[here]
    low, high = value - reach, value + reach
    inside, outside = settle(low, high, race.top)
    return Standing(value, low, high, inside, outside, unsure)


def odd_error(measured: Measurements, race: Race) -> float:
    """How far attribution may be off on an odd example: the largest error that was seen of any head."""
    return float(np.nanmax(np.abs(measured.exact - measured.attributed)[:, : race.heads]))


def _drawn(measured: Measurements, heads: Indices, turns: int) -> tuple[Array, Array, float]:
    """Estimates [head] from so many turns, with standard errors that are about the draw alone, and their df.

    Attribution is wrong where it is large, and few turns miss such examples. So the variance is not less than the mean
    square error of attribution would be if it were everywhere as wrong, in proportion, as where the head was measured.
    """
    draw, attributed, exact = measured.draw.first(turns), measured.attributed[:, heads], measured.exact[:, heads]
    terms, _ = estimates_by_turn(attributed, exact, draw)
    moderated = moderated_variance(terms.var(0, ddof=1), turns - 1, root_mean_square(attributed))
    error = np.nansum(np.square(exact - attributed), 0)
    size = np.where(np.isnan(exact), 0, np.square(attributed)).sum(0)
    wrong = np.divide(error, size, out=np.zeros_like(error), where=size > 0) * np.square(attributed).mean(0)
    variance = np.maximum(moderated.variance, wrong) / turns * (1 + MISSED_TURNS / turns)
    return terms.mean(0), np.sqrt(variance), moderated.df


def settle(low: Array, high: Array, top: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which heads are among the first `top` wherever values lie within their bounds, and which are not.

    Equal heads rank in their order, as everywhere (`atlas.ranking`).
    """
    number = np.arange(len(low))
    above = (low[:, None] > high) | ((low[:, None] == high) & (number[:, None] < number))  # [head, head below it]
    return above.sum(1) >= len(low) - top, above.sum(0) >= top


def race_entries(method: str, task: str, heads: Sequence[Head], measured: Measurements, race: Race) -> list[Diagnostic]:
    """What the race has settled: numbers of the task, and one entry for each head that is or may be among the first."""
    now = standing(measured, race)
    numbers = {
        FIRST_ASKED: race.top,
        FIRST_CONFIDENCE: race.confidence,
        FIRST_SETTLED: now.inside.sum(),
        UNSETTLED: len(now.unsettled),
        EXACT_SHARE: exact_count(measured, race) / measured.exact[:, : race.heads].size,
        ODD_ALLOWED: race.odd,
        ODD_ERROR: odd_error(measured, race),
    }
    entries = [Diagnostic(method, metric, float(value), task) for metric, value in numbers.items()]
    for metric, which in ((AMONG_FIRST, np.flatnonzero(now.inside)), (MAY_BE_FIRST, now.unsettled)):
        for i in which[np.argsort(-now.value[which], kind="stable")]:
            layer, head = heads[i]
            entries.append(Diagnostic(method, metric, float(now.value[i]), task, layer=layer, head=head))
    return entries
