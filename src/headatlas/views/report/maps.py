"""The maps of an atlas in words: what the numbers of each method mean, and its strongest heads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from headatlas.atlas.declarations import Measure, MethodInfo
from headatlas.stats import LEVEL
from headatlas.views.known_heads import known_heads_line
from headatlas.views.quantities import measure_of
from headatlas.views.report.markdown import bullets, plain, table
from headatlas.wording import decimal, head_list, head_name, interval, p_value, signed

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

STRONGEST = 5
DIGITS = 4


def maps_lines(atlas: Atlas, method: str) -> list[str]:
    """The chosen method with its strongest heads in numbers, then all others with theirs by name."""
    infos = sorted(atlas.run.methods, key=lambda info: info.name != method)
    lines = []
    for info in infos:
        lines += [f"### {plain(info.title)} ({plain(info.name)})", *_meaning(info)]
        if info.name == method:
            lines += _in_numbers(atlas, info)
        elif info.name in atlas.methods:
            lines += _by_name(atlas, info)
    return lines


def _meaning(info: MethodInfo) -> list[str]:
    """What the method says about its numbers, and how it did where the truth is known."""
    measures = [f"{plain(measure.label)}: {plain(measure.meaning)}." for measure in info.measures if measure.meaning]
    tested = [known_heads_line(info.name)] if info.kind != "description" else []
    return [plain(info.meaning), bullets(measures), *tested]


def _in_numbers(atlas: Atlas, info: MethodInfo) -> list[str]:
    """Rank, value and what is known about its error; the range over seeds where there are several."""
    measure = measure_of(atlas, info.name, info.primary)
    tables = {task: atlas.table(task, info.name) for task in atlas.tasks_of(info.name)}
    every = pd.concat(tables.values())
    seeds = atlas.scores.loc[atlas.scores["method"] == info.name, "seed"].nunique()
    has_errors = bool(every["low"].notna().any() or every["q_value"].notna().any())
    has_range = bool((every["most"] > every["least"]).any())
    headings = ["task", "rank", "head", plain(measure.label)]
    headings += ["95 % interval", "q"] if has_errors else []
    headings += ["range over seeds"] if has_range else []
    rows = [
        [plain(task), *cells]
        for task, heads in tables.items()
        for cells in _cells(heads.head(STRONGEST), measure, has_errors, has_range)
    ]
    mean = f" Values are means of {seeds} seeds." if has_range else ""
    title = f"The {STRONGEST} strongest heads of every task, {plain(info.ranking)}.{mean}"
    return [title, table(headings, rows)]


def _cells(heads: pd.DataFrame, measure: Measure, has_errors: bool, has_range: bool) -> Iterator[list[str]]:
    is_signed = not measure.zero_to_one
    for row in heads.itertuples():
        value = signed(row.value, DIGITS) if is_signed else decimal(row.value, DIGITS)
        cells = [str(row.rank), head_name(row.layer, row.head), value]
        if has_errors:
            unsure = " (not distinguishable from zero)" if row.q_value >= LEVEL else ""
            cells += [interval(row.low, row.high, DIGITS, is_signed), p_value(row.q_value) + unsure]
        if has_range:
            cells.append(interval(row.least, row.most, DIGITS, is_signed))
        yield cells


def _by_name(atlas: Atlas, info: MethodInfo) -> list[str]:
    rows = [(plain(task), head_list(atlas.ranking(task, info.name)[:STRONGEST])) for task in atlas.tasks_of(info.name)]
    return [table(("task", f"strongest heads, {plain(info.ranking)}"), rows)]
