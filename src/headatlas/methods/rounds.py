"""Exact measurements in rounds: few examples for every head, more for those that may matter, all where need be.

How many examples a head is measured on follows from its attributions and from what earlier rounds measured. Each draw
by itself has no bias. Heads whose first draws came out large are measured further, and the others are not, so values of
heads near the cut are pulled a little towards zero; heads that are measured on all examples need no correction at all.

A gradient at the prompt misses what a saturated part of the model hides, and that on few examples, which a draw hardly
meets. A gradient at the twin often sees it. So where the first round shows that attribution is poor, both say how large
an effect may be, and heads that may matter are looked at where that is most.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headatlas.methods.certify import Certified, Draw, certify, certify_all, draw_examples
from headatlas.methods.effects import (
    attributed_both_ways,
    attributed_units,
    exact_effects,
    exact_effects_with_own,
    forward_tokens,
)
from headatlas.stats import PER_COLUMN, Array, Summary

if TYPE_CHECKING:
    from headatlas.run.interventions import Unit
    from headatlas.run.quantity import TaskQuantity

SECOND_SHARE, SECOND_TURNS = 1 / 5, 4  # of the units, and times the turns of the first round
JUDGED = 1 / 10  # of the heads: those that say after the first round whether attribution is poor in a task
LOOKS = 4  # examples on which units of the second round are then measured as well: where effects may be largest
THIRD_TURNS = 12  # times those of the first round; where there are no more examples than that, all are measured
PREDICTED = 0.05  # of the variance: where attribution leaves no more, not every example has to be measured
EVERY_HEAD, FIFTH = "every head", "a fifth of the heads"  # as rounds are called while they run
BADLY = "heads that attribution predicts badly"
Indices = NDArray[np.int64]


class Part(NamedTuple):
    """Examples of a task, and units that are to be measured on all of them; or one example `alone`, with units of its
    own."""

    task: str
    examples: Indices
    units: Indices
    alone: bool = False


# From whose effects and parts of tasks to their effects [example, unit].
Measure = Callable[[str, Sequence[Part]], Sequence[Array]]
# From tasks to what gradients at the twins say of the effects [example, unit], for those that have twins.
AtTwins = Callable[[Sequence[str]], Mapping[str, Array]]


@dataclass(frozen=True)
class Measurements:
    """What was measured of one task.

    `size` [example, unit] says how large an effect may be, by the attributions at the prompt and at its twin. `exact`
    [example, unit] is NaN where nothing was measured. `turns` [unit] says how many turns of the draw were measured of
    each unit, EVERY where every example was; `looked` [example, unit], where it was measured besides the draw.
    """

    groups: Sequence[str]
    attributed: Array
    size: Array
    exact: Array
    draw: Draw
    turns: NDArray[np.int64]
    looked: NDArray[np.bool_]

    def examples_of(self, turns: int) -> Indices:
        """The distinct examples of so many turns, in order."""
        return np.arange(len(self.exact)) if turns == EVERY else self.draw.first(turns).examples

    def certified(self, units: Sequence[int]) -> Certified:
        """Of some units, each from all that was measured of it."""
        columns = np.asarray(units)
        parts, order = [], []
        for turns in np.unique(self.turns[columns]):
            chosen = columns[self.turns[columns] == turns]
            attributed, exact = self.attributed[:, chosen], self.exact[:, chosen]
            if turns == EVERY:
                parts.append(certify_all(exact, self.groups, attributed))
            else:
                looked = self.looked[:, chosen]
                parts.append(certify(attributed, exact, self.draw.first(turns), self.groups, looked))
            order.append(np.flatnonzero(self.turns[columns] == turns))
        return _joined(parts, np.argsort(np.concatenate(order)))

    def values(self, units: Sequence[int]) -> Array:
        """[example, unit], estimates without bias: the exact effect where all were measured or this one was looked at;
        elsewhere the attribution, and what exact effects add to it times how often they were drawn over how often that
        was to be expected."""
        columns = np.asarray(units)
        values = self.attributed[:, columns].copy()
        for turns in np.unique(self.turns[columns]):
            where = np.flatnonzero(self.turns[columns] == turns)
            exact = self.exact[:, columns[where]]
            if turns == EVERY:
                values[:, where] = exact
                continue
            times = np.bincount(self.draw.turns[:turns], minlength=len(values))
            drawn = np.flatnonzero(times)
            weights = times[drawn] / (turns * self.draw.chance[drawn])
            values[np.ix_(drawn, where)] += weights[:, None] * (exact[drawn] - values[np.ix_(drawn, where)])
            values[:, where] = np.where(self.looked[:, columns[where]], exact, values[:, where])
        return values


EVERY = np.iinfo(np.int64).max  # of `turns`: every example was measured


def measure_all(title: str, quantities: Mapping[str, TaskQuantity], units: Sequence[Unit]) -> dict[str, Measurements]:
    """Every unit on every example, by task."""
    effects = exact_effects(title, quantities, dict.fromkeys(quantities, units))
    nothing = Draw(np.zeros(0, dtype=np.int64), np.zeros(0))
    return {
        task: replace(
            nothing_measured(exact, np.abs(exact), quantities[task].groups, nothing),
            exact=exact, turns=np.full(len(units), EVERY),
        )
        for task, exact in effects.items()
    }  # fmt: skip


def measure_in_rounds(
    title: str,
    quantities: Mapping[str, TaskQuantity],
    mirrors: Mapping[str, TaskQuantity],
    kinds: Sequence[Sequence[Unit]],
    turns: int,
    thorough: float,
    seed: int,
    both_ways: bool = False,
) -> dict[str, Measurements]:
    """Units of several kinds (heads, groups of heads) by task: attributed on all examples, exact on some. `mirrors` are
    the mirrored quantities of tasks that have twins; `both_ways` where their attributions are needed in any case."""
    units = [unit for kind in kinds for unit in kind]
    attributed, _ = attributed_both_ways(f"Attribution{title}", quantities, mirrors if both_ways else {})
    state = begin_rounds(attributed, {}, quantities, units, turns, seed)

    def at_twins(tasks: Sequence[str]) -> dict[str, Array]:
        some = {task: mirrors[task] for task in tasks if task in mirrors}
        effects, _ = attributed_both_ways(f"Attribution at the twins{title}", some, {})
        return {task: attributed_units(effects[task], units, some[task].context.model.shape) for task in some}

    sizes = [len(kind) for kind in kinds]
    return run_rounds(state, sizes, turns, thorough, with_model(title, quantities, units), at_twins)


def with_model(title: str, quantities: Mapping[str, TaskQuantity], units: Sequence[Unit]) -> Measure:
    """Effects of these units, measured with the model."""

    def measure(whose: str, parts: Sequence[Part]) -> Sequence[Array]:
        named = {str(number): part for number, part in enumerate(parts) if len(part.examples) and not part.alone}
        alone = alone_by_task(parts)
        effects, own = exact_effects_with_own(
            f"Exact effects{title}, {whose}",
            {name: quantities[part.task].only(part.examples.tolist()) for name, part in named.items()},
            {name: [units[i] for i in part.units] for name, part in named.items()},
            {task: quantities[task].only(examples) for task, (examples, _) in alone.items()},
            {task: [[units[i] for i in some] for some in own_units] for task, (_, own_units) in alone.items()},
        )
        each = {task: iter(of_task) for task, of_task in own.items()}
        nothing = [np.empty((0, len(part.units))) for part in parts]
        return [
            next(each[part.task])[None] if part.alone else effects.get(str(number), nothing[number])
            for number, part in enumerate(parts)
        ]

    return measure


def alone_by_task(parts: Sequence[Part]) -> dict[str, tuple[list[int], list[Indices]]]:
    """Of parts of one example each: the examples of every task, and the units of each."""
    alone: dict[str, tuple[list[int], list[Indices]]] = {}
    for part in parts:
        if part.alone:
            examples, units = alone.setdefault(part.task, ([], []))
            examples.append(int(part.examples[0]))
            units.append(part.units)
    return alone


def begin_rounds(
    attributed: Mapping[str, Array],
    at_twin: Mapping[str, Array],
    quantities: Mapping[str, TaskQuantity],
    units: Sequence[Unit],
    turns: int,
    seed: int,
) -> dict[str, Measurements]:
    """From attributions [example, layer * head] by task, and those at the twins of tasks that have them: the examples
    are drawn, nothing is measured yet.

    The draw of a task follows from its name, so its map is the same whatever other tasks are mapped.
    """
    state = {}
    for task, effects in attributed.items():
        shape, twins = quantities[task].context.model.shape, at_twin.get(task, effects)
        rng = np.random.default_rng([seed, zlib.crc32(task.encode())])
        size = possible_size(effects, twins)
        draw = draw_examples(size, forward_tokens(quantities[task]), most_turns(turns), rng)
        by_unit = attributed_units(effects, units, shape)
        unit_size = possible_size(by_unit, attributed_units(twins, units, shape))
        state[task] = nothing_measured(by_unit, unit_size, quantities[task].groups, draw)
    return state


def possible_size(attributed: Array, at_twin: Array) -> Array:
    """How large an effect may be [example, unit]: the larger of both attributions."""
    return np.maximum(np.abs(attributed), np.abs(at_twin))


def more_turns(turns: int) -> int:
    """Turns of the second round."""
    return SECOND_TURNS * turns


def most_turns(turns: int) -> int:
    """Turns that are drawn: those of the third round, where it does not take every example."""
    return THIRD_TURNS * turns


def nothing_measured(attributed: Array, size: Array, groups: Sequence[str], draw: Draw) -> Measurements:
    unmeasured, none = np.full_like(attributed, np.nan), np.zeros(attributed.shape[1], dtype=np.int64)
    return Measurements(groups, attributed, size, unmeasured, draw, none, np.zeros(attributed.shape, dtype=bool))


def run_rounds(
    state: Mapping[str, Measurements],
    sizes: Sequence[int],
    turns: int,
    thorough: float,
    measure: Measure,
    at_twins: AtTwins,
) -> dict[str, Measurements]:
    """Round 1 measures every unit on `turns` drawn examples, round 2 the fifth of each kind with the farthest intervals
    on more, and in tasks of poor attribution also where their effects may be largest. Round 3 measures what attribution
    predicts badly among the share `thorough` of each kind with the farthest intervals on still more, or on all examples
    where there are few. `sizes` are the numbers of units of each kind.
    """
    last = {task: last_turns(turns, len(measured.exact)) for task, measured in state.items()}
    rounds = [
        (EVERY_HEAD, 1.0, dict.fromkeys(state, turns)),
        (FIFTH, SECOND_SHARE, dict.fromkeys(state, more_turns(turns))),
    ]
    rounds += [(BADLY, thorough, last)] if thorough else []
    current, looks = dict(state), dict.fromkeys(state, 0)
    for whose, share, wanted_turns in rounds:
        if whose == FIFTH:
            poor = [task for task, measured in current.items() if _is_poor(measured, sizes[0])]
            looks |= dict.fromkeys(poor, LOOKS)
            for task, effects in at_twins(poor).items():
                size = possible_size(current[task].attributed, effects)
                current[task] = replace(current[task], size=size)
        chosen = {task: _farthest(measured, share, sizes) for task, measured in current.items()}
        if whose == BADLY:
            chosen = {task: _badly_predicted(current[task], units) for task, units in chosen.items()}
        current = measure_round(current, whose, chosen, wanted_turns, measure, looks if whose == FIFTH else {})
    return current


def last_turns(turns: int, examples: int) -> int:
    """Turns of the third round, EVERY where there are no more examples than that."""
    return EVERY if examples <= most_turns(turns) else most_turns(turns)


def measure_round(
    state: Mapping[str, Measurements],
    whose: str,
    chosen: Mapping[str, Indices],
    turns: Mapping[str, int],
    measure: Measure,
    looks: Mapping[str, int] | None = None,
) -> dict[str, Measurements]:
    """Measure the chosen units of each task on the examples of so many turns, where they are not yet; and each of them
    on the examples where its effect may be largest, as many as `looks` says of the task."""
    looks = looks or {}
    drawn, looked_at = [], []
    for task, measured in state.items():
        wanted, units = measured.examples_of(turns[task]), chosen[task]
        drawn.append(Part(task, wanted[np.isnan(measured.exact[np.ix_(wanted, units)]).any(1)], units))
        missing = largest(measured.size, units, looks.get(task, 0)) & np.isnan(measured.exact)
        missing[wanted] = False
        looked_at += parts_by_example(task, missing)
    result = measure_parts(state, whose, [*drawn, *looked_at], measure)
    for task, units in chosen.items():
        counts = result[task].turns.copy()
        counts[units] = turns[task]
        looked = result[task].looked | largest(result[task].size, units, looks.get(task, 0))
        result[task] = replace(result[task], turns=counts, looked=looked)
    return result


def largest(size: Array, units: Indices, count: int) -> NDArray[np.bool_]:
    """[example, unit]: for each of the units, the examples where its effect may be largest."""
    marked = np.zeros(size.shape, dtype=bool)
    marked[np.argsort(-size[:, units], axis=0, kind="stable")[:count], units] = True
    return marked


def parts_by_example(task: str, wanted: NDArray[np.bool_]) -> list[Part]:
    """What is wanted [example, unit], one part for each example."""
    return [Part(task, np.array([i]), np.flatnonzero(row), alone=True) for i, row in enumerate(wanted) if row.any()]


def measure_parts(
    state: Mapping[str, Measurements], whose: str, parts: Sequence[Part], measure: Measure
) -> dict[str, Measurements]:
    """Add exact effects of these parts."""
    result = {task: replace(measured, exact=measured.exact.copy()) for task, measured in state.items()}
    for part, effects in zip(parts, measure(whose, parts), strict=True):
        result[part.task].exact[np.ix_(part.examples, part.units)] = effects
    return result


def _farthest(measured: Measurements, share: float, sizes: Sequence[int]) -> Indices:
    """The share of each kind whose effects may be the largest: of the units of the last round, those whose intervals
    reach farthest from zero."""
    if share >= 1:
        return np.arange(len(measured.turns))
    chosen, start = [], 0
    for size in sizes:
        numbers, wanted = np.arange(start, start + size), max(1, round(share * size))
        numbers = numbers[measured.turns[numbers] == measured.turns.max()]
        start += size
        if size:
            summary = measured.certified(numbers.tolist()).summary
            reach = np.maximum(np.abs(summary.low), np.abs(summary.high))
            # With few groups there are no bounds; the head with the largest estimate then comes first.
            reach = np.where(np.isnan(reach), np.abs(summary.mean), reach)
            chosen.append(np.sort(numbers[np.argsort(-reach, kind="stable")[:wanted]]))
    return np.concatenate(chosen)


def _is_poor(measured: Measurements, heads: int) -> bool:
    """Whether attribution leaves too much of the variance of the heads whose intervals reach farthest."""
    left = measured.certified(_farthest(measured, JUDGED, [heads]).tolist()).variance_left
    return bool(np.isfinite(left).any() and np.nanmedian(left) > PREDICTED)


def _badly_predicted(measured: Measurements, units: Indices) -> Indices:
    """Those of the units of whose variance attribution leaves too much."""
    return units[measured.certified(units.tolist()).variance_left > PREDICTED]


def _joined(parts: Sequence[Certified], order: NDArray[np.int64]) -> Certified:
    """Columns of several results, put in order."""

    def column(name: str, of: Sequence[object]) -> NDArray:
        return np.concatenate([getattr(part, name) for part in of])[order]

    summaries = [part.summary for part in parts]
    summary = Summary(groups=summaries[0].groups, **{name: column(name, summaries) for name in PER_COLUMN})
    return Certified(summary, *(column(name, parts) for name in ("exact", "variance_left", "same_sign")))
