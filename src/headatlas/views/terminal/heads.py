"""The strongest heads of a task, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from headatlas.stats import LEVEL
from headatlas.views.quantities import measure_of
from headatlas.views.terminal.console import plain_table
from headatlas.wording import decimal, head_name, interval, p_value, signed

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

DIGITS = 4
UNSURE = "may be zero"


def top_table(atlas: Atlas, task: str | None, k: int, method: str | None) -> Group:
    """The strongest heads of a task by the method's rule; intervals, q and the range over seeds where they exist."""
    task, method = atlas.choose_task(task), atlas.choose_method(method)
    info = atlas.info(method)
    measure = info.measure(info.primary)
    rows = atlas.table(task, method)
    seeds = atlas.rows_of(method, measure.name, task)["seed"].nunique()
    has_interval, has_q = (bool(rows[column].notna().any()) for column in ("low", "q_value"))
    has_range = seeds > 1
    columns = ["rank", "head", measure.label]
    columns += ["95 % interval"] * has_interval + ["q", ""] * has_q + [f"range over {seeds} seeds"] * has_range
    mean = f", mean of {seeds} seeds" if has_range else ""
    unit = measure_of(atlas, method, measure.name, task).unit  # too long for the heading of a column
    told = f"; {unit}" if unit != measure.unit else ""
    title = Text(f"{task}: strongest heads by {method} ({info.ranking}{mean}{told})", style="italic")
    table = plain_table(columns, names=0)
    write = decimal if measure.zero_to_one else signed
    for row in rows.head(k).itertuples():
        cells = [str(row.rank), head_name(row.layer, row.head), write(row.value, DIGITS)]
        if has_interval:
            cells.append(interval(row.low, row.high, DIGITS, sign=not measure.zero_to_one))
        if has_q:
            cells += [p_value(row.q_value), "" if row.q_value < LEVEL else UNSURE]
        if has_range:
            cells.append(interval(row.least, row.most, DIGITS, sign=not measure.zero_to_one))
        table.add_row(*cells)
    why = atlas.why_not_read(task, method)
    warning = [Text(f"This map is not to be read: {why}.", style="yellow")] if why else []
    return Group(title, *warning, table)  # a title of the table itself would be wrapped to its width
