"""`headatlas.compare`: choose the two sides, compare them task by task, correct over all heads and tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from headatlas.atlas.atlas import Atlas
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.patterns.agreement import FEWEST_HEADS, TOP
from headatlas.patterns.compare.depth import compare_depth
from headatlas.patterns.compare.heads import compare_heads
from headatlas.patterns.compare.remarks import remarks_of
from headatlas.patterns.compare.result import By, ComparedTask, Comparison
from headatlas.patterns.compare.sides import check_different, choose_side, common_tasks
from headatlas.stats import q_values


def compare(
    first: Atlas | str | Path,
    second: Atlas | str | Path | None = None,
    *,
    method: str | None = None,
    method_b: str | None = None,
    measure: str | None = None,
    measure_b: str | None = None,
    seed: int | None = None,
    seed_b: int | None = None,
    tasks: Sequence[str] | None = None,
    k: int = TOP,
    by: By | None = None,
) -> Comparison:
    """Compare the maps of two atlases, or of two methods, measures or seeds of one.

    `second` is the first atlas unless it is given. `method`, `measure` and `seed` hold for both sides unless the second
    has one of its own; by default each atlas's default method, its primary measure and the mean over seeds. `k` first
    heads of each map are compared. Models of the same shape are compared head by head, others (or with `by="depth"`) by
    relative depth.
    """
    if k < 1:
        raise UsageError(f"`k` {k} was asked for; it must be at least 1.")
    a = first if isinstance(first, Atlas) else Atlas(first)
    b = a if second is None else second if isinstance(second, Atlas) else Atlas(second)
    one = choose_side(a, method, measure, seed)
    same_method = method_b in (None, method)
    two = choose_side(
        b, method_b or method, measure_b or (measure if same_method else None), seed if seed_b is None else seed_b
    )
    check_different(one, two)
    chosen = _choose_by(a.shape, b.shape, by)
    compare_task = compare_heads if chosen == "heads" else compare_depth
    compared = {task: compare_task(one, two, task, k) for task in common_tasks(one, two, tasks)}
    tested = _corrected([task for task in compared.values() if task is not None])
    if not tested:
        what = "heads" if chosen == "heads" else "layers"
        raise HeadAtlasError(
            f"There is nothing to compare: the maps have fewer than {FEWEST_HEADS} {what} in common, or the same value "
            "everywhere."
        )
    left_out = [task for task, outcome in compared.items() if outcome is None]
    return Comparison(one, two, chosen, tested, tuple(remarks_of(one, two, chosen, tested, left_out)))


def compare_if_possible(first: Atlas, second: Atlas, method: str | None = None) -> Comparison | None:
    """The comparison of two atlases, where they have anything to compare."""
    try:
        return compare(first, second, method=method)
    except HeadAtlasError:
        return None


def _choose_by(first: tuple[int, int], second: tuple[int, int], by: By | None) -> By:
    if by not in (None, "heads", "depth"):
        raise UsageError(f"`by` {by!r} was asked for; it is 'heads' or 'depth'.")
    if by == "heads" and first != second:
        raise UsageError(
            f"The models have {first[0]} layers of {first[1]} heads and {second[0]} layers of {second[1]} heads, so "
            "their heads cannot be matched. Compare them `by` depth."
        )
    return by or ("heads" if first == second else "depth")


def _corrected(tasks: Sequence[ComparedTask]) -> tuple[ComparedTask, ...]:
    """With q over all heads and tasks (Benjamini and Hochberg)."""
    p = [task.heads["p_value"].to_numpy() for task in tasks if task.heads is not None and task.tested]
    q = iter(np.split(q_values(np.concatenate(p)), np.cumsum([len(part) for part in p])[:-1]) if p else [])
    return tuple(
        replace(task, heads=task.heads.assign(q_value=next(q))) if task.heads is not None and task.tested else task
        for task in tasks
    )
