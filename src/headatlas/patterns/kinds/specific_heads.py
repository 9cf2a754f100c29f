"""Heads that matter more for one task than for any other."""

from __future__ import annotations

import numpy as np
from scipy import stats

from headatlas.patterns.comparison import TaskComparison
from headatlas.patterns.correction import exact_score
from headatlas.patterns.finding import Statement
from headatlas.patterns.kind import Kind
from headatlas.stats import LEVEL, Array
from headatlas.wording import count, decimal, head_list, head_name


def no_standard_errors(comparison: TaskComparison) -> str | None:
    known = all(task_map.has_errors for task_map in comparison.maps)
    return None if known else "not all maps have standard errors"


def specific_heads(comparison: TaskComparison) -> list[Statement]:
    """Heads whose effect is larger in one task than in each of the others, relative to the size of each map."""
    scale = comparison.typical_effects[:, None]
    size = np.stack([task_map.size for task_map in comparison.maps]) / scale
    error = np.stack([task_map.stderr for task_map in comparison.maps]) / scale
    return [_of_task(comparison, i, size, error) for i in range(len(comparison.maps))]


def _of_task(comparison: TaskComparison, i: int, size: Array, error: Array) -> Statement:
    """An intersection of t-tests: the smallest difference counts.

    Sizes are positive, so the tests are two-sided. The head must stand above the null itself. `size` and `error` are
    [task, n], in units of the typical effect.
    """
    nulls, task_map = comparison.nulls[i], comparison.maps[i]
    others = [j for j in range(len(comparison.maps)) if j != i]
    df = min(other.df for other in comparison.maps)
    lead_over, noise = size[i] - size[others], np.hypot(error[i], error[others])
    # A head that an edit has silenced has neither effect nor error.
    t = np.divide(lead_over, noise, out=np.zeros_like(lead_over), where=noise > 0).min(axis=0)
    p = np.where((t > 0) & task_map.above_null, 2 * stats.t.sf(t, df), 1.0)
    any_head_p = min(1.0, float(p.min()) * len(p))
    lead = size[i] - size[others].max(axis=0)
    order = np.argsort(np.where(task_map.above_null, -lead, np.inf), kind="stable")
    heads = task_map.heads_at(order[(p * len(p) * len(comparison.maps) < LEVEL)[order]])
    observed, draws = exact_score(any_head_p, nulls.draws, nulls.rng)
    first = order[0]
    each = "the other task" if len(others) == 1 else f"each of the {len(others)} others"
    any_other = "the other task" if len(others) == 1 else "any other task"
    numbers = (
        f"{head_name(task_map.layer[first], task_map.head[first])} has {decimal(size[i, first], 1)} times the typical "
        f"effect for {task_map.task}, and at most {decimal(size[others, first].max(), 1)} times for {any_other}"
    )
    return Statement(
        comparison.tasks_from(i),
        f"{task_map.task} has {count(len(heads), 'head')} with a larger effect than in {each}: {head_list(heads)}; "
        f"{numbers}.",
        f"{task_map.task} has no head shown to have a larger effect than in {each}; the nearest: {numbers}.",
        value=len(heads),
        effect=float(lead[first]),
        observed=observed,
        draws=draws,
        p=any_head_p,
        heads=heads,
    )


SPECIFIC_HEADS = Kind(
    name="specific heads",
    question="Which heads matter more for one task than for each of the others?",
    null="in some other task the head has an effect of the same relative size (t-tests, Bonferroni over heads)",
    answer=specific_heads,
    obstacle=no_standard_errors,
)
