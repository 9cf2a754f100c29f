"""Numbers over a count of heads: the chosen heads beside the reference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from rich.table import Table
from rich.text import Text

from headatlas.views.metrics import metric
from headatlas.views.rows import Outcome, by_task, only, single
from headatlas.views.terminal.console import plain_table
from headatlas.wording import decimal, interval, p_value, signed

MOST_SIZES = 6  # columns of a table


def curve_table(outcome: Outcome) -> Table | None:
    """For one choice of heads its largest number that can be compared; for several choices all of them by number."""
    rows = only(outcome.curve, metric=outcome.test.headline)
    if rows.empty:
        return None
    return _table_by_size(outcome, rows) if len(outcome.chosen) > 1 else _table_at_most_heads(outcome, rows)


def _table_at_most_heads(outcome: Outcome, rows: pd.DataFrame) -> Table:
    control, reference = outcome.test.chosen[0], outcome.test.reference
    columns = ["task", outcome.test.axis.replace(" ", "\n"), "intact", control, "95 % interval"]
    table = plain_table([*columns, *([reference, "p", "q"] if reference else [])])
    for task, task_rows in by_task(rows):
        compared = only(outcome.differences, task=task, control=control, metric=outcome.test.headline)
        # Where too many heads are taken, no others are left to compare with.
        k = (compared if len(compared) else task_rows)["k"].max()
        chosen = only(task_rows, control=control, k=k)
        cells: list[Text | str] = [Text(task), f"{k:.0f}", decimal(single(chosen, "intact"))]
        cells.append(signed(single(chosen, "change")))
        cells.append(interval(single(chosen, "change_low"), single(chosen, "change_high"), sign=True))
        if reference:
            cells.append(signed(only(task_rows, control=reference, k=k)["change"].mean()))
            cells += [p_value(single(compared, name, k=k)) for name in ("p_value", "q_value")]
        table.add_row(*cells)
    return table


def _table_by_size(outcome: Outcome, rows: pd.DataFrame) -> Table:
    """Without the two ends, where no head or every head is taken and all choices are the same."""
    sizes = _some(sorted({int(k) for k in rows["k"] if 0 < k < outcome.heads}))
    table = plain_table(["task", outcome.test.axis, *map(str, sizes)], names=2)
    _add_by_size(table, outcome, rows, sizes, "change")
    return table


def recovery_table(outcome: Outcome) -> Table | None:
    """The headline at each size, and the first number that sums up the curve, with its interval.

    A dash stands where there is no number: of a task that loses almost nothing there is no fraction.
    """
    rows = only(outcome.curve, metric=outcome.test.headline)
    sizes = sorted({int(k) for k in rows["k"]})
    if not sizes:
        return None
    summary = next(iter(outcome.summaries["metric"]), None)
    columns = ["task", outcome.test.axis, *map(str, sizes)]
    table = plain_table([*columns, *([metric(summary).short, "95 % interval"] if summary else [])], names=2)
    _add_by_size(table, outcome, outcome.levels, sizes, "value", summary)
    return table


def _add_by_size(
    table: Table, outcome: Outcome, rows: pd.DataFrame, sizes: Sequence[int], column: str, summary: str | None = None
) -> None:
    """One row per task and control, random draws averaged."""
    present = set(rows["control"])
    controls = [*outcome.chosen, *(name for name in [outcome.test.reference] if name is not None and name in present)]
    write = signed if column == "change" else decimal
    for task, task_rows in by_task(rows):
        for i, control in enumerate(controls):
            values = only(task_rows, metric=outcome.test.headline, control=control).groupby("k")[column].mean()
            cells: list[Text | str] = [Text("" if i else task), control]
            cells += [write(values.get(size, np.nan)) for size in sizes]
            if summary:
                area = only(outcome.summaries, task=task, control=control, metric=summary)
                cells += [decimal(single(area)), interval(single(area, "low"), single(area, "high"))]
            table.add_row(*cells)


def _some(sizes: list[int]) -> list[int]:
    """As many as fit a line, spread evenly, the first and the last among them."""
    if len(sizes) <= MOST_SIZES:
        return sizes
    return [sizes[i] for i in np.linspace(0, len(sizes) - 1, MOST_SIZES).round().astype(int)]
