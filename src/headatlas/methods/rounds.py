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
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from headatlas.methods.certify import draw_examples
from headatlas.methods.effects import attributed_both_ways, attributed_units, forward_tokens
from headatlas.methods.measurements import (
    EVERY,
    Indices,
    Measure,
    Measurements,
    measure_round,
    nothing_measured,
    possible_size,
    with_model,
)
from headatlas.stats import Array

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
# From tasks to what gradients at the twins say of the effects [example, unit], for those that have twins.
AtTwins = Callable[[Sequence[str]], Mapping[str, Array]]


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
    attributed, known = attributed_both_ways(f"Attribution{title}", quantities, mirrors if both_ways else {})
    state = begin_rounds(attributed, {}, quantities, units, turns, seed)

    def at_twins(tasks: Sequence[str]) -> dict[str, Array]:
        some = {task: mirrors[task] for task in tasks if task in mirrors}
        effects = known or attributed_both_ways(f"Attribution at the twins{title}", some, {})[0]
        return {task: attributed_units(effects[task], units, some[task].context.model.shape) for task in some}

    sizes = [len(kind) for kind in kinds]
    return run_rounds(state, sizes, turns, thorough, with_model(title, quantities, units), at_twins)


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


def more_turns(turns: int) -> int:
    """Turns of the second round."""
    return SECOND_TURNS * turns


def most_turns(turns: int) -> int:
    """Turns that are drawn: those of the third round, where it does not take every example."""
    return THIRD_TURNS * turns


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
