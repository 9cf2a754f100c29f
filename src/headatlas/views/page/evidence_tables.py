"""Tests whose outcome is a table: tasks against tasks, tasks against what was done, or plain rows."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from headatlas.atlas.declarations import TestInfo
from headatlas.views.metrics import metric as metric_words
from headatlas.views.page.encoding import number
from headatlas.views.page.outcomes import Point, change_interval, change_text, distinct, excludes_zero
from headatlas.wording import count, decimal, interval

EVERY_TASK = "all tasks"  # a row without a measured task
BOLD = "Bold: the 95 % interval excludes 0."

Cell = dict[str, Any]


def describe_matrix(info: TestInfo, points: Sequence[Point], metric: str) -> dict[str, Any]:
    """Heads of one task (row), measured on another (column), as changes from the intact model.

    A cell shows the difference from the reference where the reference was measured too. A reference that has no levels
    is a comparison of the row as a whole and gets a column.
    """
    of_metric = _largest_k(point for point in points if point.metric == metric)
    chosen = _by_tasks(point for point in of_metric if point.is_level and point.control in info.chosen)
    reference = _by_tasks(point for point in of_metric if point.is_level and point.control == info.reference)
    differences = [point for point in of_metric if not point.is_level]
    in_cells = bool(reference) and bool(differences)
    whole_rows = [] if in_cells else distinct(map(_difference_name, differences))
    by_tasks = _by_tasks(differences) if in_cells else {}
    by_name = {(point.task, _difference_name(point)): point for point in reversed(differences)}
    tasks, eval_tasks = (distinct(pair[axis] for pair in chosen) for axis in (0, 1))

    def cell(pair: tuple[str, str]) -> Cell | None:
        level, other, difference = (rows.get(pair) for rows in (chosen, reference, by_tasks))
        if difference is not None:
            return _difference_cell(difference, [point for point in (level, other) if point is not None])
        return None if level is None else _change_cell(level, other, outlined=pair[0] == pair[1])

    def comparison(pair: tuple[str, str]) -> Cell | None:
        return _difference_cell(by_name[pair]) if pair in by_name else None

    less = f", less that with {info.reference} heads" if in_cells else ""
    return {
        "corner": "heads ↓  measured →",
        "note": f"{metric_words(metric).change} of a task (column) by the heads of another (row){less}. {BOLD}",
        "rows": tasks,
        "columns": [*eval_tasks, *whole_rows],
        "cells": [
            [*(cell((task, other)) for other in eval_tasks), *(comparison((task, name)) for name in whole_rows)]
            for task in tasks
        ],
    }


def describe_changes(_info: TestInfo, points: Sequence[Point], metric: str) -> dict[str, Any]:
    """Heads of a task (row) and what was done to them (column), as changes from the intact model."""
    levels = _largest_k(point for point in points if point.is_level and point.metric == metric)
    factors = defaultdict(set)
    for point in levels:
        factors[point.control, point.task].add(point.factor)
    # Several factors per task are several columns; a factor that was chosen for each task is named beside the table.
    columns: dict[str, dict[str, Cell | None]] = {}
    chosen_factors: dict[str, dict[str, str]] = {}
    for point in levels:
        name = point.control
        if len(factors[point.control, point.task]) > 1:
            name += f" {point.factor:g}"
        elif point.factor is not None:
            chosen_factors.setdefault(point.control, {})[point.task] = f"{point.task} {point.factor:g}"
        if point.eval_task not in (None, point.task):
            name += f", {point.eval_task}"
        columns.setdefault(name, {})[point.task] = _change_cell(point, None, with_interval=True)
    for point in (point for point in points if not point.is_level and point.metric == metric):
        name = _difference_name(point) + ("" if point.factor is None else f", factor {point.factor:g}")
        columns.setdefault(name, {})[point.task] = _difference_cell(point)
    tasks = distinct(point.task for point in levels)
    chosen = [f" Factor of {control}: {', '.join(texts.values())}." for control, texts in chosen_factors.items()]
    return {
        "corner": "heads ↓  what was done →",
        "note": f"{metric_words(metric).change} from the intact model with its 95 % interval, on the task "
        f"itself unless another is named. {BOLD}{''.join(chosen)}",
        "rows": tasks,
        "columns": list(columns),
        "cells": [[cells.get(task) for cells in columns.values()] for task in tasks],
    }


def describe_rows(_info: TestInfo, points: Sequence[Point], metric: str) -> dict[str, Any]:
    """Every row as it is, for a test whose shape is not known."""
    of_metric = [point for point in points if point.metric == metric]
    names = ("task", "eval_task", "control", "factor", "compared_with", "k")
    used = [name for name in names if any(getattr(point, name) is not None for point in of_metric)]
    rows = [
        [
            *(_text(getattr(point, name)) for name in used),
            decimal(point.value),
            decimal(point.intact),
            interval(point.low, point.high),
        ]
        for point in of_metric
    ]
    return {"columns": [*(name.replace("_", " ") for name in used), "value", "intact", "95 % interval"], "rows": rows}


def _text(value: str | float | None) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:g}"


def _largest_k(points: Iterable[Point]) -> list[Point]:
    """Of several counts of heads the largest, for each intervention."""
    largest: dict[tuple[Any, ...], Point] = {}
    for point in points:
        key = point[:5]  # all that says what was done, without the metric and the count
        if key not in largest or (point.k or 0) > (largest[key].k or 0):
            largest[key] = point
    return list(largest.values())


def _by_tasks(points: Iterable[Point]) -> dict[tuple[str, str], Point]:
    """The first point of every pair of a task and a measured task."""
    by_tasks: dict[tuple[str, str], Point] = {}
    for point in points:
        by_tasks.setdefault((point.task, point.eval_task or EVERY_TASK), point)
    return by_tasks


def _difference_name(point: Point) -> str:
    return f"{point.control} minus {point.compared_with}"


def _change_cell(
    point: Point, reference: Point | None, outlined: bool = False, with_interval: bool = False
) -> Cell | None:
    """A change from the intact model; below it what the reference does, or its interval."""
    change, low, high = point.change
    if math.isnan(change):
        return None
    reach = change_interval(low, high)
    small = reach if with_interval else None
    if reference is not None:
        small = f"{reference.control} {change_text(reference.change[0])}"
    title = f"{metric_words(point.metric).short} {decimal(point.intact)} → {decimal(point.value)}"
    title += f", change {reach}" if reach else ""
    return _cell(change, small, title, point, excludes_zero(low, high), outlined)


def _difference_cell(point: Point, levels: Sequence[Point] = ()) -> Cell:
    """A difference of two changes with its interval; both stand in the title where they are known."""
    both = ", ".join(f"{level.control} {change_text(level.change[0])}" for level in levels)
    title = f"{_difference_name(point)}: {both}" if both else _difference_name(point)
    reach = change_interval(point.low, point.high)
    return _cell(point.value, reach, title, point, excludes_zero(point.low, point.high))


def _cell(value: float, small: str | None, title: str, point: Point, sure: bool, outlined: bool = False) -> Cell:
    title += f", {count(point.k, 'head')}" if point.k is not None else ""
    title += f", factor {point.factor:g}" if point.factor is not None else ""
    return {
        "value": number(value),
        "text": change_text(value),
        "small": small,
        "title": title,
        "outlined": outlined,
        "sure": sure,
    }
