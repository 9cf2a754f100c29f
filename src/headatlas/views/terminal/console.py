"""What all tables in a terminal share: a console that prints text as it is, and the form of a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

NARROWEST_NAME = 13  # letters


def plain_console() -> Console:
    """Standard output without markup: task names may hold brackets, and mean them."""
    return Console(highlight=False, markup=False)


def plain_table(columns: Sequence[str], names: int = 1, title: str | None = None) -> Table:
    """A table without lines. The first `names` columns and those without a heading hold words, the others numbers.

    In a narrow terminal the first column gives way, but never altogether; numbers do not.
    """
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for i, name in enumerate(columns):
        is_text = i < names or not name
        table.add_column(
            name,
            justify="left" if is_text else "right",
            no_wrap=i > 0,
            min_width=NARROWEST_NAME if i == 0 and is_text else None,
        )
    return table
