"""Two maps compared, for the page."""

from __future__ import annotations

from typing import Any

from headatlas.patterns.compare import ComparedTask, Comparison
from headatlas.patterns.compare.sides import same_unit
from headatlas.stats import LEVEL
from headatlas.views.page.encoding import numbers
from headatlas.views.quantities import measure_of
from headatlas.wording import MISSING, decimal, head_name, interval, p_value, signed

MOST_HEADS = 12  # of a task that are listed as differing


def describe_comparison(comparison: Comparison) -> dict[str, Any]:
    sides = comparison.first, comparison.second
    by_heads = comparison.by == "heads"
    return {
        "labels": comparison.labels,
        "what": [f"{side.method}: {measure_of(side.atlas, side.method, side.measure).label}" for side in sides],
        "k": comparison.k,
        "by": comparison.by,
        "columns": _head_columns(comparison) if by_heads else _depth_columns(comparison),
        "rows": [[task.task, *(_head_cells(task) if by_heads else _depth_cells(task))] for task in comparison.tasks],
        "tasks": [_task(comparison, task) for task in comparison.tasks],
        "remarks": comparison.remarks,
    }


def _head_columns(comparison: Comparison) -> list[str]:
    return ["heads", "rank correlation", "95 % interval", f"same of first {comparison.k}", "by chance",
            "p of this overlap", f"differ beyond noise (q below {LEVEL:g})"]  # fmt: skip


def _head_cells(task: ComparedTask) -> list[str]:
    return [
        str(task.units), signed(task.correlation.value),
        interval(task.correlation.low, task.correlation.high, sign=True), str(len(task.shared)),
        decimal(task.by_chance, 1), p_value(task.p_value), str(len(task.differing)) if task.tested else MISSING,
    ]  # fmt: skip


def _depth_columns(comparison: Comparison) -> list[str]:
    first, second = comparison.labels
    return ["parts of the depth", "rank correlation", "95 % interval", f"centre of {first}", f"centre of {second}",
            "difference", "95 % interval"]  # fmt: skip


def _depth_cells(task: ComparedTask) -> list[str]:
    assert task.centres is not None
    first, second, difference = task.centres
    return [
        str(task.units), signed(task.correlation.value),
        interval(task.correlation.low, task.correlation.high, sign=True), decimal(first.value), decimal(second.value),
        signed(difference.value), interval(difference.low, difference.high, sign=True),
    ]  # fmt: skip


def _task(comparison: Comparison, task: ComparedTask) -> dict[str, Any]:
    """What is drawn of a task: every head's two values, or both profiles; and the heads that differ."""
    if task.heads is None:
        assert task.profiles is not None
        parts = [(part + 0.5) / task.units for part in range(task.units)]
        return {"task": task.task, "depth": numbers(parts), "profiles": [numbers(100 * p) for p in task.profiles]}
    shared = set(task.shared)
    differing = {(row.layer, row.head) for row in task.differing.itertuples()}
    heads = list(zip(task.heads["layer"].tolist(), task.heads["head"].tolist(), strict=True))
    return {
        "task": task.task,
        "same_unit": same_unit(comparison.first, comparison.second, task.task),
        "names": [head_name(*head) for head in heads],
        "first": numbers(task.heads["first"]),
        "second": numbers(task.heads["second"]),
        "kinds": [
            " ".join(word for word, named in (("shared", shared), ("differs", differing)) if head in named)
            for head in heads
        ],
        "differing": [
            [head_name(row.layer, row.head), signed(row.first, 4), signed(row.second, 4), signed(row.difference, 4),
             interval(row.low, row.high, 4, sign=True), p_value(row.q_value)]
            for row in task.differing.head(MOST_HEADS).itertuples()
        ],
        "more": max(0, len(task.differing) - MOST_HEADS),
    }  # fmt: skip
