"""Reading tables back from a terminal."""

import io

from rich.console import Console

from headatlas.wording import interval, signed


def printed(renderables, width=200):
    console = Console(file=io.StringIO(), width=width, markup=False, highlight=False)
    for renderable in renderables:
        console.print(renderable)
    return console.file.getvalue()


def section(text, name):
    """The part of the output about a test, up to the empty line below its table."""
    return text[text.index(f"({name})\n") :].split("\n\n")[0]


def cells(text, name, first):
    """The cells of the row that begins with a name, in the section of a test."""
    row = next(row for row in section(text, name).splitlines() if row.startswith(first))
    return row.removeprefix(first).split()


def level(atlas, **wanted):
    """The level with these values at the most heads."""
    rows = atlas.evidence[atlas.evidence["compared_with"].isna()]
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    return rows.sort_values("k").iloc[-1]


def difference(atlas, **wanted):
    rows = atlas.evidence[atlas.evidence["compared_with"].notna()]
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    return rows.sort_values("k").iloc[-1]


def change(row):
    return signed(row["value"] - row["intact"])


def change_interval(row):
    return interval(row["low"] - row["intact"], row["high"] - row["intact"], sign=True).split()


def mean_change(rows):
    return signed((rows["value"] - rows["intact"]).mean())
