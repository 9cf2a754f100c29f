"""What each head is for, function by function: heads that a task needs, and needs more than the other tasks do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from headatlas.patterns.functions import SHARE, SPECIFIC, head_functions, specific_method
from headatlas.stats import LEVEL
from headatlas.views.report.markdown import plain, table
from headatlas.wording import count, head_name, interval, p_value, percent, signed

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

MOST = 10  # heads of a function that are listed
DIGITS = 3


def functions_lines(atlas: Atlas) -> list[str]:
    """One table per function that has heads; a sentence where no method can tell."""
    method = specific_method(atlas)
    if method is None:
        return [
            "No method of this atlas says how specific heads are to a task; certified ablation of at least two tasks "
            "does."
        ]
    functions = head_functions(atlas, method)
    every = atlas.shape[0] * atlas.shape[1]
    heads = functions[["layer", "head"]].drop_duplicates()
    several = int((functions.groupby(["layer", "head"]).size() > 1).sum())
    more = f" ({several} of them for more than one)" if several else ""
    are = "is" if len(heads) == 1 else "are"
    lines = [
        f"{len(heads)} of {count(every, 'head')} {are} specifically for a function{more}: the "
        f"task needs the head, and needs it more than the other tasks do ({plain(method)}; q below {LEVEL:g}, "
        "corrected over all heads and tasks together). The share of a head is its part of all positive effects of the "
        "task."
    ]
    for task, rows in functions.groupby("task", sort=False):
        lines += _function(atlas, method, str(task), rows)
    return lines


def _function(atlas: Atlas, method: str, task: str, rows: pd.DataFrame) -> list[str]:
    first, together = rows.iloc[0], rows["share"].sum()
    name = head_name(first["layer"], first["head"])
    sentence = f"{count(len(rows), 'head')} with {percent(together)} of the positive effects of the task"
    largest = f" together; the largest is {name} with {percent(first['share'])}" if len(rows) > 1 else ""
    listed = f" The first {MOST} are listed." if len(rows) > MOST else ""
    by_head = {
        measure: atlas.table(task, method, measure).set_index(["layer", "head"]) for measure in (SHARE, SPECIFIC)
    }
    cells = []
    for row in rows.head(MOST).itertuples():
        share, specific = (by_head[measure].loc[(row.layer, row.head)] for measure in (SHARE, SPECIFIC))
        cells.append((
            head_name(row.layer, row.head),
            signed(row.share, DIGITS), interval(share["low"], share["high"], DIGITS, sign=True),
            signed(row.specific, DIGITS), interval(specific["low"], specific["high"], DIGITS, sign=True),
            p_value(row.q_value),
        ))  # fmt: skip
    headings = ("head", "share of the task's effects", "95 % interval", "share less mean share for other tasks",
                "95 % interval", "q")  # fmt: skip
    return [f"### {plain(task)}", f"{sentence}{largest}.{listed}", table(headings, cells)]
