"""Heads of one task measured on another, and single changes, as tables: shapes `matrix` and `change`."""

from __future__ import annotations

import pandas as pd

from headatlas.views.metrics import metric
from headatlas.views.report.markdown import plain, table
from headatlas.views.rows import Outcome
from headatlas.wording import MISSING, decimal, interval, p_value, signed

DIGITS = 3


def matrix_lines(outcome: Outcome) -> list[str]:
    """The differences first, which say whether a change is more than that of other heads; then every change."""
    lines = []
    for (name, control, other), rows in outcome.differences.groupby(["metric", "control", "compared_with"], sort=False):
        title = f"{_capital(metric(name).with_unit)}: {plain(control)} less {plain(other)}, with 95 % intervals"
        if (rows["task"] == rows["eval_task"]).all():
            lines += [f"{title}, measured on the task itself.", _by_task(rows)]
        else:
            pairs = _pairs(rows, ("value", "low", "high"))
            lines += [f"{title}. Rows: whose heads, columns: what was measured.", pairs]
    for (name, control), rows in outcome.levels.groupby(["metric", "control"], sort=False):
        drawn = f", mean of {rows['draw'].nunique()} draws" if rows["draw"].notna().any() else ""
        lines += [
            f"{metric(name).change} with {_heads(rows['k'])}{plain(outcome.test.axis)} ({plain(control)}{drawn}).",
            _pairs(rows, ("change",)),
        ]
    return lines


def change_lines(outcome: Outcome) -> list[str]:
    """Every task, control and factor on a line of its own."""
    rows = [
        (plain(row.task), MISSING if pd.isna(row.eval_task) else plain(row.eval_task), plain(row.control),
         MISSING if pd.isna(row.factor) else f"{row.factor:g}", MISSING if pd.isna(row.k) else f"{row.k:.0f}",
         metric(row.metric).with_unit, decimal(row.intact, DIGITS), signed(row.change, DIGITS),
         interval(row.change_low, row.change_high, DIGITS, sign=True))
        for row in outcome.levels.itertuples()
    ]  # fmt: skip
    headings = ("heads of", "measured on", "control", "factor", plain(outcome.test.axis), "metric", "intact", "change",
                "95 % interval")  # fmt: skip
    return [*_comparisons(outcome), table(headings, rows)] if rows else []


def _comparisons(outcome: Outcome) -> list[str]:
    """What was done against its controls: every difference with its interval, and p and q where it is ranked."""
    rows = [
        (plain(row.task), f"{plain(row.control)} less {plain(row.compared_with)}",
         MISSING if pd.isna(row.factor) else f"{row.factor:g}", metric(row.metric).with_unit, signed(row.value, DIGITS),
         interval(row.low, row.high, DIGITS, sign=True), p_value(row.p_value), p_value(row.q_value))
        for row in outcome.differences.itertuples()
    ]  # fmt: skip
    headings = ("heads of", "comparison", "factor", "metric", "difference", "95 % interval", "p", "q")
    return [table(headings, rows)] if rows else []


def _heads(counts: pd.Series) -> str:
    """The number of heads where it is the same in all rows."""
    return f"{counts.iloc[0]:.0f} " if counts.notna().all() and counts.nunique() == 1 else ""


def _capital(text: str) -> str:
    """The first letter large, the others as they are: CPR stays CPR."""
    return text[:1].upper() + text[1:]


def _by_task(rows: pd.DataFrame) -> str:
    lines = [
        (plain(row.task), signed(row.value, DIGITS), interval(row.low, row.high, DIGITS, sign=True))
        for row in rows.itertuples()
    ]
    return table(("heads of", "difference", "95 % interval"), lines)


def _pairs(rows: pd.DataFrame, columns: tuple[str, ...]) -> str:
    """A cell per pair of tasks: a number, and its interval where the columns of its bounds are given."""
    means = rows.groupby(["task", "eval_task"], sort=False)[list(columns)].mean()
    measured = list(dict.fromkeys(rows["eval_task"]))
    lines = []
    for task in dict.fromkeys(rows["task"]):
        cells = [plain(task)]
        for eval_task in measured:
            if (task, eval_task) not in means.index:
                cells.append(MISSING)
                continue
            value, *bounds = means.loc[(task, eval_task)]
            ends = f" ({interval(bounds[0], bounds[1], DIGITS, sign=True)})" if bounds else ""
            cells.append(signed(value, DIGITS) + ends)
        lines.append(cells)
    return table(["heads of", *map(plain, measured)], lines)
