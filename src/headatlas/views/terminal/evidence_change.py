"""One change per task: what an intervention gains on the task, and what it costs on neutral text."""

from __future__ import annotations

import pandas as pd
from rich.table import Table
from rich.text import Text

from headatlas.views.metrics import metric
from headatlas.views.rows import NEUTRAL, Outcome, only, single
from headatlas.views.terminal.console import plain_table
from headatlas.wording import interval, signed


def change_table(outcome: Outcome) -> Table | None:
    """The tasks that the first control was applied to. What others do is in figure, report and page, and so are other
    metrics where there are comparisons: a terminal may have no more than 80 columns."""
    if not outcome.chosen or not outcome.metrics:
        return None
    control = outcome.chosen[0]
    rows = only(outcome.levels, control=control)
    neutral = only(rows, eval_task=NEUTRAL)
    rows = rows[rows["task"] == rows["eval_task"]]
    first, *others = outcome.metrics
    others_of = list(dict.fromkeys(only(outcome.differences, control=control)["compared_with"]))
    others = [] if others_of else others
    columns = ["task", f"{control}\nfactor", f"gain in\n{metric(first).short}", "95 % interval"]
    columns += [f"gain in\n{metric(name).short}" for name in others]
    shared = [name for name in ("logprob", first) if name in set(neutral["metric"])][:1]
    columns += [f"{NEUTRAL.lower()}\n{metric(name).short}" for name in shared]
    columns += ["\n".join(["less", *name.split()]) for name in others_of]
    table = plain_table(columns)
    for (task, factor), task_rows in rows.groupby(["task", "factor"], sort=False, dropna=False):
        headline = only(task_rows, metric=first)
        cells: list[Text | str] = [Text(task), "" if pd.isna(factor) else f"{factor:g}"]
        cells.append(signed(single(headline, "change")))
        cells.append(interval(single(headline, "change_low"), single(headline, "change_high"), sign=True))
        cells += [signed(single(task_rows, "change", metric=name)) for name in others]
        is_same = neutral["factor"].isna() if pd.isna(factor) else neutral["factor"] == factor
        cost = neutral[is_same & (neutral["task"] == task)]
        cells += [signed(single(cost, "change", metric=name)) for name in shared]
        cells += [_difference(outcome, control, task, factor, first, name) for name in others_of]
        table.add_row(*cells)
    if others_of:
        table.caption, table.caption_justify = "* the 95 % interval excludes zero", "left"
    return table


def _difference(outcome: Outcome, control: str, task: str, factor: float, name: str, other: str) -> str:
    """Against one of the controls; a star where the 95 % interval excludes zero."""
    rows = only(outcome.differences, control=control, task=task, factor=factor, metric=name, compared_with=other)
    is_sure = single(rows, "low") > 0 or single(rows, "high") < 0
    return signed(single(rows)) + ("*" if is_sure else " ")
