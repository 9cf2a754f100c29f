"""Heads of one task, measured on another."""

from __future__ import annotations

import pandas as pd
from rich.table import Table
from rich.text import Text

from headatlas.views.metrics import metric
from headatlas.views.rows import NEUTRAL, Outcome, by_task, only, single
from headatlas.views.terminal.console import plain_table
from headatlas.wording import MISSING, decimal, interval, signed


def matrix_table(outcome: Outcome) -> Table | None:
    """Every task on its own line where its heads are compared on the task itself; otherwise every pair of tasks."""
    control, headline = outcome.test.chosen[0], outcome.test.headline
    differences = only(outcome.differences, control=control, metric=headline)
    levels = only(outcome.levels, control=control, metric=headline)
    if levels.empty and differences.empty:
        return None
    if len(differences) and (differences["task"] == differences["eval_task"]).all():
        return _table_by_task(outcome, levels, differences)
    if len(differences):
        caption = f"{control} less {differences['compared_with'].iloc[0]}; "
        return _pairs_table(differences, ("value", "low", "high"), caption)
    return _pairs_table(levels, ("change", "change_low", "change_high"))


def _table_by_task(outcome: Outcome, levels: pd.DataFrame, differences: pd.DataFrame) -> Table:
    """What a task loses without its heads and without those of the others, and what its heads do to neutral text."""
    neutral = only(outcome.levels, eval_task=NEUTRAL, control=outcome.test.chosen[0])
    measures = [name for name in dict.fromkeys(neutral["metric"]) if name not in outcome.metrics]
    columns = ["task", "its\nheads", "others'\nheads", "its less\nothers'", "95 % interval"]
    table = plain_table([*columns, *(f"{NEUTRAL.lower()}\n{metric(name).short}" for name in measures)])
    for task, task_differences in by_task(differences):
        measured = only(levels, eval_task=task)
        cells: list[Text | str] = [
            Text(task),
            signed(single(measured, "change", task=task)),
            signed(measured[measured["task"] != task]["change"].mean()),
            signed(single(task_differences)),
            interval(single(task_differences, "low"), single(task_differences, "high"), sign=True),
        ]
        for name in measures:
            row = only(neutral, task=task, metric=name)
            before, after = decimal(single(row, "intact"), 1), decimal(single(row), 1)
            cells.append(MISSING if after == MISSING else f"{before} to {after}")
        table.add_row(*cells)
    return table


def _pairs_table(rows: pd.DataFrame, columns: tuple[str, str, str], caption: str = "") -> Table:
    """A star stands where the 95 % interval excludes zero."""
    measured = list(dict.fromkeys(rows["eval_task"]))
    value, low, high = columns
    table = plain_table(["heads of", *(name.replace(" ", "\n") for name in measured)])
    for task, task_rows in by_task(rows):
        cells = []
        for eval_task in measured:
            cell = only(task_rows, eval_task=eval_task)
            is_sure = single(cell, low) > 0 or single(cell, high) < 0
            cells.append(signed(single(cell, value)) + ("*" if is_sure else " "))
        table.add_row(Text(task), *cells)
    table.caption = f"{caption}* the 95 % interval excludes zero"
    table.caption_justify = "left"
    return table
