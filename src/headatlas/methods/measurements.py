"""What is measured exactly of which heads on which examples of a task, and what that says of their effects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headatlas.methods.certify import Certified, Draw, certify, certify_all
from headatlas.methods.effects import exact_effects, exact_effects_with_own
from headatlas.stats import PER_COLUMN, Array, Summary

if TYPE_CHECKING:
    from headatlas.run.interventions import Unit
    from headatlas.run.quantity import TaskQuantity

Indices = NDArray[np.int64]
EVERY = np.iinfo(np.int64).max  # of `turns`: every example was measured


class Part(NamedTuple):
    """Examples of a task, and units that are to be measured on all of them; or one example `alone`, with units of its
    own."""

    task: str
    examples: Indices
    units: Indices
    alone: bool = False


# From whose effects and parts of tasks to their effects [example, unit].
Measure = Callable[[str, Sequence[Part]], Sequence[Array]]


@dataclass(frozen=True)
class Measurements:
    """What was measured of one task.

    `size` [example, unit] says how large an effect may be, by the attributions at the prompt and at its twin. `exact`
    [example, unit] is NaN where nothing was measured. `turns` [unit] says how many turns of the draw were measured of
    each unit, EVERY where every example was; `looked` [example, unit], where it was to be measured whatever was drawn.
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


def nothing_measured(attributed: Array, size: Array, groups: Sequence[str], draw: Draw) -> Measurements:
    unmeasured, none = np.full_like(attributed, np.nan), np.zeros(attributed.shape[1], dtype=np.int64)
    return Measurements(groups, attributed, size, unmeasured, draw, none, np.zeros(attributed.shape, dtype=bool))


def possible_size(attributed: Array, at_twin: Array) -> Array:
    """How large an effect may be [example, unit]: the larger of both attributions."""
    return np.maximum(np.abs(attributed), np.abs(at_twin))


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


def measure_round(
    state: Mapping[str, Measurements],
    whose: str,
    chosen: Mapping[str, Indices],
    turns: Mapping[str, int],
    measure: Measure,
    looks: Mapping[str, int] | None = None,
) -> dict[str, Measurements]:
    """Measure the chosen units of each task on the examples of so many turns, but for those on which all of them are
    already; and each of them on the examples where its effect may be largest, as many as `looks` says of the task."""
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


def _joined(parts: Sequence[Certified], order: NDArray[np.int64]) -> Certified:
    """Columns of several results, put in order."""

    def column(name: str, of: Sequence[object]) -> NDArray:
        return np.concatenate([getattr(part, name) for part in of])[order]

    summaries = [part.summary for part in parts]
    summary = Summary(groups=summaries[0].groups, **{name: column(name, summaries) for name in PER_COLUMN})
    return Certified(summary, *(column(name, parts) for name in ("exact", "variance_left", "same_sign")))
