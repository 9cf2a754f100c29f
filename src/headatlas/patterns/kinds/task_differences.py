"""Tasks that are denser or lie deeper than the others.

Every task is compared with the mean of the others. Of two tasks one statement says it all.
"""

from __future__ import annotations

import numpy as np

from headatlas.patterns.comparison import TaskComparison
from headatlas.patterns.finding import Statement
from headatlas.patterns.kind import Kind
from headatlas.patterns.layer_profile import centre_of_mass, layer_shares
from headatlas.patterns.nulls import NOISE
from headatlas.patterns.phrases import null_range, slightly
from headatlas.stats import Array
from headatlas.wording import decimal, percent, signed, significant

EXCHANGED_TASKS = f"the effects of every head exchanged between the tasks, {NOISE}"


def model_of_one_layer(comparison: TaskComparison) -> str | None:
    return "the model has one layer" if comparison.maps[0].shape[0] == 1 else None


def density(comparison: TaskComparison) -> list[Statement]:
    large = comparison.large
    shares = np.array([(task_map.size > large).mean() for task_map in comparison.maps])
    drawn, _ = comparison.exchanged
    statements = []
    for i in _compared_tasks(comparison):
        task, rest = _names(comparison, i)
        difference, draws = float(_from_the_rest(shares, i)), _from_the_rest(drawn, i)
        how = "denser" if difference > 0 else "less dense"
        numbers = (
            f"{percent(shares[i])} of its heads have effects larger than {significant(large, 2)} (10 % of all "
            f"heads and tasks do), against {percent(shares[i] - difference)} for {rest}"
        )
        statements.append(
            Statement(
                comparison.tasks_from(i),
                f"{task} is {how} than {rest}: {numbers}.",
                f"{task} is not shown to be denser or less dense than {rest}: {numbers}.",
                value=float(shares[i]),
                effect=difference,
                observed=difference,
                draws=draws,
                sides=2,
            )
        )
    return statements


def depth_difference(comparison: TaskComparison) -> list[Statement]:
    centres = np.array([float(centre_of_mass(layer_shares(each, each.size))) for each in comparison.maps])
    _, drawn = comparison.exchanged
    statements = []
    for i in _compared_tasks(comparison):
        task, rest = _names(comparison, i)
        difference, draws = float(_from_the_rest(centres, i)), _from_the_rest(drawn, i)
        effect = difference / (comparison.maps[0].shape[0] - 1)
        how = "later" if difference > 0 else "earlier"
        numbers = (
            f"its centre of mass is layer {decimal(centres[i], 1)}, that of {rest} "
            f"{decimal(centres[i] - difference, 1)}; the difference is {signed(difference, 1)}, exchanged tasks give "
            f"{null_range(draws)}"
        )
        statements.append(
            Statement(
                comparison.tasks_from(i),
                f"{task} lies {slightly(effect)}{how} than {rest}: {numbers}.",
                f"{task} is not shown to lie earlier or later than {rest}: {numbers}.",
                value=difference,
                effect=effect,
                observed=difference,
                draws=draws,
                sides=2,
            )
        )
    return statements


def _compared_tasks(comparison: TaskComparison) -> range:
    tasks = len(comparison.maps)
    return range(tasks if tasks > 2 else 1)


def _names(comparison: TaskComparison, i: int) -> tuple[str, str]:
    """Task i, and what the others are called."""
    task, *others = comparison.tasks_from(i)
    return task, others[0] if len(others) == 1 else f"the {len(others)} other tasks"


def _from_the_rest(values: Array, i: int) -> Array:
    """Task i less the mean of the others, over the last axis."""
    return values[..., i] - np.delete(values, i, axis=-1).mean(axis=-1)


DENSITY = Kind(
    name="density",
    question="Does a task have more heads with large effects than the others?",
    null=EXCHANGED_TASKS,
    answer=density,
)
DEPTH_DIFFERENCE = Kind(
    name="depth difference",
    question="Does a task lie earlier or later than the others?",
    null=EXCHANGED_TASKS,
    answer=depth_difference,
    obstacle=model_of_one_layer,
)
