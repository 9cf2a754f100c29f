"""What the intact model can do, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from headatlas.atlas.records import COMPETENT
from headatlas.views.terminal.console import plain_table
from headatlas.wording import decimal, interval

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas


def competence_table(atlas: Atlas) -> Table:
    columns = ["task", "items", "accuracy", "95 % interval", "chance", "log-prob"]
    table = plain_table(columns, title="What the intact model can do")
    table.add_column("verdict")
    for row in atlas.competence.itertuples():
        table.add_row(
            Text(row.task),
            str(row.items),
            decimal(row.accuracy),
            interval(row.low, row.high),
            decimal(row.chance),
            decimal(row.logprob),
            Text(row.verdict, style="green" if row.verdict == COMPETENT else "yellow"),
        )
    return table
