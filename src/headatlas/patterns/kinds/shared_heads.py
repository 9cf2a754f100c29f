"""Heads that several tasks share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headatlas.patterns.comparison import TaskComparison
from headatlas.patterns.finding import Statement
from headatlas.patterns.kind import Kind
from headatlas.patterns.maps import LARGEST_SHARE, TaskMap
from headatlas.stats import Array
from headatlas.wording import decimal, head_list, percent


def shared_heads(comparison: TaskComparison) -> list[Statement]:
    """How many heads two tasks have in common, on average over all pairs of tasks."""
    maps, tasks = comparison.maps, len(comparison.maps)
    task_counts = np.sum([task_map.above_null for task_map in maps], axis=0)
    draws, heads_by_count = np.empty(comparison.draws), np.zeros(tasks + 1)
    for part in comparison.chunks(comparison.heads):
        drawn_counts = _drawn_task_counts(maps, part.stop - part.start, comparison.rng)
        draws[part] = _mean_overlap(drawn_counts, tasks)
        heads_by_count += np.bincount(drawn_counts.ravel(), minlength=tasks + 1) / comparison.draws
    observed, expected = float(_mean_overlap(task_counts, tasks)), float(draws.mean())
    # Heads are named that are in so many tasks that of ten such heads at most one is expected by chance.
    certain = [c for c in range(2, tasks + 1) if heads_by_count[c:].sum() <= 0.1 * np.count_nonzero(task_counts >= c)]
    fewest_tasks = min(certain, default=tasks + 1)
    order = np.argsort(-task_counts, kind="stable")
    heads = maps[0].heads_at(order[task_counts[order] >= fewest_tasks])
    tested = all(task_map.has_p for task_map in maps)
    which = (
        "heads above the null" if tested else f"of the {percent(LARGEST_SHARE, 0)} of heads with the largest effects"
    )
    who = "the two tasks have" if tasks == 2 else f"two of the {tasks} tasks have on average"
    numbers = f"{who} {decimal(observed, 1)} {which} in common, {decimal(expected, 1)} expected"
    if heads:
        where = "all" if fewest_tasks == tasks else f"{fewest_tasks} or more"
        numbers += f"; in {where} of the tasks: {head_list(heads, 8)}"
    return [
        Statement(
            tuple(task_map.task for task_map in maps),
            f"The tasks share heads: {numbers}.",
            f"The tasks are not shown to share more heads than chance gives: {numbers}.",
            value=observed,
            effect=observed - expected,
            observed=observed,
            draws=draws,
            heads=heads,
        )
    ]


def _mean_overlap(task_counts: np.ndarray, tasks: int) -> Array:
    """Mean number of heads that two tasks have in common, from the number of tasks of every head [..., n]."""
    return (task_counts * (task_counts - 1)).sum(axis=-1) / (tasks * (tasks - 1))


def _drawn_task_counts(maps: Sequence[TaskMap], draws: int, rng: np.random.Generator) -> np.ndarray:
    """The number of tasks of every head, [draw, n], when every task chooses its heads anew within its layers."""
    counts = np.zeros((draws, len(maps[0].value)), dtype=np.int16)
    for task_map in maps:
        for layer in np.unique(task_map.layer[task_map.above_null]):
            in_layer = np.flatnonzero(task_map.layer == layer)
            chosen = np.tile(task_map.above_null[in_layer].astype(np.int16), (draws, 1))
            counts[:, in_layer] += rng.permuted(chosen, axis=1)
    return counts


SHARED_HEADS = Kind(
    name="shared heads",
    question="Do tasks share more heads than chance gives?",
    null="as many heads in every layer and task, in random order within the layer",
    answer=shared_heads,
)
