"""Tests whose outcome is a table: tasks against tasks, tasks against what was done, or plain rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from headatlas.atlas.declarations import TestInfo
from headatlas.views.metrics import metric as metric_words
from headatlas.views.page.encoding import number
from headatlas.views.page.outcomes import change_interval, change_text, excludes_zero
from headatlas.wording import MISSING, count, decimal, interval

EVERY_TASK = "all tasks"  # a row without a measured task
BOLD = "Bold: the 95 % interval excludes 0."


def describe_matrix(info: TestInfo, rows: pd.DataFrame, metric: str) -> dict[str, Any]:
    """Heads of one task (row), measured on another (column), as changes from the intact model.

    A cell shows the difference from the reference where the reference was measured too. A reference that has no levels
    is a comparison of the row as a whole and gets a column.
    """
    of_metric = _largest_k(rows[rows["metric"] == metric])
    levels = of_metric[of_metric["compared_with"].isna()]
    chosen, reference = levels[levels["control"].isin(info.chosen)], levels[levels["control"] == info.reference]
    differences = of_metric[of_metric["compared_with"].notna()]
    in_cells = len(reference) > 0 and len(differences) > 0
    by_tasks = [_by_tasks(table) for table in (chosen, reference, differences)]
    tasks, eval_tasks = (list(dict.fromkeys(key[axis] for key in reversed(by_tasks[0]))) for axis in (0, 1))
    whole_rows = [] if in_cells else list(dict.fromkeys(_difference_name(row) for row in differences.itertuples()))

    def cell(task: str, eval_task: str) -> dict[str, Any] | None:
        level, other, difference = (rows.get((task, eval_task)) for rows in by_tasks)
        if in_cells and difference is not None:
            return _difference_cell(difference, level, other)
        return None if level is None else _change_cell(level, other, outlined=task == eval_task)

    def comparison(task: str, name: str) -> dict[str, Any] | None:
        matching = [row for row in differences.itertuples() if (row.task, _difference_name(row)) == (task, name)]
        return _difference_cell(matching[0]) if matching else None

    label = metric_words(metric).label
    less = f", less that with {info.reference} heads" if in_cells else ""
    return {
        "corner": "heads ↓  measured →",
        "note": f"Change of {label} of a task (column) by the heads of another (row){less}. {BOLD}",
        "rows": tasks,
        "columns": [*eval_tasks, *whole_rows],
        "cells": [
            [*(cell(task, other) for other in eval_tasks), *(comparison(task, name) for name in whole_rows)]
            for task in tasks
        ],
    }


def describe_changes(info: TestInfo, rows: pd.DataFrame, metric: str) -> dict[str, Any]:
    """Heads of a task (row) and what was done to them (column), as changes from the intact model."""
    levels = _largest_k(rows[(rows["metric"] == metric) & rows["compared_with"].isna()])
    per_task = levels.groupby(["control", "task", "eval_task"], dropna=False)["factor"].transform("nunique")
    columns: dict[str, dict[str, Any]] = {}
    for row, factors in zip(levels.itertuples(), per_task, strict=True):
        # Several factors per task are several columns; a factor chosen for each task stands in its cell.
        name = f"{row.control} {row.factor:g}" if factors > 1 else row.control
        if isinstance(row.eval_task, str) and row.eval_task != row.task:
            name += f", {row.eval_task}"
        columns.setdefault(name, {})[row.task] = _change_cell(row, None, with_interval=True, with_factor=factors == 1)
    tasks = list(dict.fromkeys(levels["task"]))
    return {
        "corner": "heads ↓  what was done →",
        "note": f"Change of {metric_words(metric).label} from the intact model with its 95 % interval, on the task "
        f"itself unless another is named. {BOLD}{_factors(levels[per_task == 1])}",
        "rows": tasks,
        "columns": list(columns),
        "cells": [[columns[name].get(task) for name in columns] for task in tasks],
    }


def _factors(rows: pd.DataFrame) -> str:
    """The factors that were chosen for each task, as a sentence per control."""
    chosen = rows.dropna(subset="factor").drop_duplicates(["control", "task"])
    sentences = [
        f" Factor of {control}: {', '.join(f'{row.task} {row.factor:g}' for row in of_control.itertuples())}."
        for control, of_control in chosen.groupby("control", sort=False)
    ]
    return "".join(sentences)


def describe_rows(info: TestInfo, rows: pd.DataFrame, metric: str) -> dict[str, Any]:
    """Every row as it is, for a test whose shape is not known."""
    formats: dict[str, Callable[[Any], str]] = {
        "task": str,
        "eval_task": str,
        "control": str,
        "factor": lambda factor: f"{factor:g}",
        "compared_with": str,
        "k": lambda k: str(int(k)),
        "value": decimal,
        "intact": decimal,
    }
    of_metric = rows[rows["metric"] == metric]
    used = [name for name in formats if of_metric[name].notna().any()]
    texts = [
        [MISSING if pd.isna(row[name]) else formats[name](row[name]) for name in used]
        + [interval(row["low"], row["high"])]
        for row in of_metric.to_dict("records")
    ]
    return {"columns": [*(name.replace("_", " ") for name in used), "95 % interval"], "rows": texts}


def _largest_k(rows: pd.DataFrame) -> pd.DataFrame:
    """Of several counts of heads the largest, for each intervention."""
    keys = ["task", "eval_task", "control", "factor", "compared_with"]
    last = rows.groupby(keys, dropna=False)["k"].transform("max")
    return rows[(rows["k"] == last) | last.isna()]


def _by_tasks(table: pd.DataFrame) -> dict[tuple[str, str], Any]:
    """The first row of every pair of a task and a measured task."""
    rows = reversed(list(table.fillna({"eval_task": EVERY_TASK}).itertuples()))
    return {(row.task, row.eval_task): row for row in rows}


def _difference_name(row: Any) -> str:
    return f"{row.control} minus {row.compared_with}"


def _change_cell(
    row: Any, reference: Any, outlined: bool = False, with_interval: bool = False, with_factor: bool = False
) -> dict[str, Any] | None:
    """A change from the intact model; below it what the reference does, or its interval."""
    change, low, high = row.value - row.intact, row.low - row.intact, row.high - row.intact
    if pd.isna(change):
        return None
    reach = change_interval(low, high)
    small = reach if with_interval else None
    if reference is not None:
        small = f"{reference.control} {change_text(reference.value - reference.intact)}"
    title = f"{metric_words(row.metric).short} {decimal(row.intact)} → {decimal(row.value)}"
    title += f", change {reach}" if reach else ""
    title += f", {count(int(row.k), 'head')}" if not pd.isna(row.k) else ""
    title += f", factor {row.factor:g}" if with_factor and not pd.isna(row.factor) else ""
    return {
        "value": number(change),
        "text": change_text(change),
        "small": small,
        "title": title,
        "outlined": outlined,
        "sure": excludes_zero(low, high),
    }


def _difference_cell(row: Any, level: Any = None, reference: Any = None) -> dict[str, Any]:
    """A difference of two changes with its interval; both stand in the title where they are known."""
    both = [f"{one.control} {change_text(one.value - one.intact)}" for one in (level, reference) if one is not None]
    title = _difference_name(row) + (f": {', '.join(both)}" if both else "")
    title += f", {count(int(row.k), 'head')}" if not pd.isna(row.k) else ""
    return {
        "value": number(row.value),
        "text": change_text(row.value),
        "small": change_interval(row.low, row.high),
        "title": title,
        "outlined": False,
        "sure": excludes_zero(row.low, row.high),
    }
