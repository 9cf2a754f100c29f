"""Whether methods, seeds and halves of the examples agree, and what methods report about themselves."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pandas as pd

from headatlas.patterns.agreement import agreement
from headatlas.patterns.found_again import found_again
from headatlas.views.found_again import found_again_sentence
from headatlas.views.notes import method_notes
from headatlas.views.page.encoding import number, numbers, plain
from headatlas.wording import count, decimal, p_value, percent, significant

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

# What any method may report about two halves of its examples.
HALF_CORRELATION, HALF_OVERLAP = "half correlation", "half overlap"
CURVE, ELBOW = "curve", "elbow"  # sorted sizes with the band of their null, and where they bend
CURVE_POINTS = 200  # of a longer curve, so many points are shown, denser where it is steep


def describe_agreement(atlas: Atlas) -> list[dict[str, Any]]:
    """Tables of correlations: rows of methods, columns of tasks."""
    pairs = agreement(atlas)
    between_methods = pairs[pairs["kind"] == "methods"]
    between_seeds = pairs[pairs["kind"] == "seeds"]
    tables = [
        _table(
            "Method with method",
            "rank correlation; below it, how many of the first k heads are the same (by chance)",
            {
                (f"{row.first} – {row.second}", row.task): {
                    **_cell(row.correlation, row.shared, row.k, row.expected),
                    "title": f"{count(row.heads, 'head')} compared; {row.shared} of the first {row.k} shared, "
                    f"{significant(row.expected, 2)} by chance, p {p_value(row.p_value)}",
                }
                for row in between_methods.itertuples()
            },
        ),
        _table("Seed with seed", "the same, mean over pairs of seeds", _seed_cells(between_seeds)),
        _table(
            "Half with half",
            "each map made twice, from halves of the examples: correlation; below it, the share of first heads that "
            "are the same",
            _half_cells(atlas.diagnostics),
        ),
    ]
    return [table for table in tables if table["rows"]]


def _seed_cells(pairs: pd.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    method = pairs["first"].str.rsplit(" ", n=1).str[0]
    cells = {}
    for (name, task), rows in pairs.groupby([method, pairs["task"]], sort=False):
        first = rows.iloc[0]
        cells[name, task] = {
            **_cell(rows["correlation"].mean(), rows["shared"].mean(), first["k"], first["expected"]),
            "title": f"{count(len(rows), 'pair')} of seeds, {count(int(first['heads']), 'head')}",
        }
    return cells


def _half_cells(diagnostics: pd.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    rows = diagnostics[diagnostics["metric"].isin([HALF_CORRELATION, HALF_OVERLAP]) & diagnostics["task"].notna()]
    cells = {}
    for (method, task), of_task in rows.groupby(["method", "task"], sort=False):
        means = of_task.groupby("metric")["value"].mean()
        correlation, shared = means.get(HALF_CORRELATION), means.get(HALF_OVERLAP)
        cells[method, task] = {
            "value": plain(correlation if correlation is not None else shared),
            "text": decimal(correlation),
            "small": None if shared is None else percent(shared),
            "title": f"correlation {decimal(correlation)}, shared {percent(shared)}",
        }
    return cells


def _cell(correlation: float, shared: float, k: int, expected: float) -> dict[str, Any]:
    small = f"{significant(shared, 2)}/{k} ({significant(expected, 2)})"
    return {"value": number(correlation), "text": decimal(correlation), "small": small}


def _table(title: str, note: str, cells: dict[tuple[str, str], dict[str, Any]]) -> dict[str, Any]:
    rows, columns = (list(dict.fromkeys(key[axis] for key in cells)) for axis in (0, 1))
    return {
        "title": title,
        "note": note,
        "rows": rows,
        "columns": columns,
        "cells": [[cells.get((row, column)) for column in columns] for row in rows],
    }


def describe_found_again(atlas: Atlas) -> list[tuple[str, str, str]]:
    """Method, task and one sentence about how many of the first heads would be found again."""
    return [(found.method, found.task, found_again_sentence(found)) for found in found_again(atlas)]


def describe_notes(atlas: Atlas) -> list[dict[str, Any]]:
    """What is worth saying about each method beside its maps, as in the report."""
    return [asdict(note) for note in method_notes(atlas)]


def describe_reported(atlas: Atlas) -> dict[str, Any]:
    """Single numbers that methods report: about all tasks together, and by task as means over seeds."""
    table = atlas.diagnostics
    single = table[table[["layer", "head", "step", "rank", "other_seed"]].isna().all(axis=1)]
    single = single[~single["metric"].isin([HALF_CORRELATION, HALF_OVERLAP])]
    overall = single[single["task"].isna() & (single["seed"] == 0)]
    by_task = single[single["task"].notna()]
    return {
        "overall": [
            {
                "name": f"{row.method}: {_words(row.metric)}",
                "value": number(row.value),
                "text": significant(row.value),
                **_range(row),
            }
            for row in overall.itertuples()
        ],
        "by_task": [_by_task(method, rows) for method, rows in by_task.groupby("method", sort=False)],
    }


def _range(row: Any) -> dict[str, Any]:
    """The interval of a number or, where it is a null itself, its band."""
    low, high, word = (row.low, row.high, "") if pd.notna(row.low) else (row.null_low, row.null_high, "null: ")
    known = pd.notna(low)
    return {
        "low": number(low) if known else None,
        "high": number(high) if known else None,
        "range": f"{word}{significant(low)} to {significant(high)}" if known else "",
    }


def _by_task(method: str, rows: pd.DataFrame) -> dict[str, Any]:
    tasks, metrics = (list(dict.fromkeys(rows[name])) for name in ("task", "metric"))
    summary = rows.groupby(["metric", "task"])["value"].agg(["mean", "min", "max", "size"])

    def cell(metric: str, task: str) -> tuple[str, str]:
        if (metric, task) not in summary.index:
            return "–", ""
        mean, least, most, size = summary.loc[(metric, task)]
        title = f"{significant(least)} to {significant(most)} over {size:.0f} seeds" if size > 1 else ""
        return significant(mean), title

    return {
        "columns": tasks,
        "rows": [(f"{method}: {_words(metric)}", [cell(metric, task) for task in tasks]) for metric in metrics],
    }


def _words(metric: str) -> str:
    return metric.replace("_", " ").replace("nll", "NLL")


def describe_nulls(atlas: Atlas) -> list[dict[str, Any]]:
    """Where a method drew a null of its sorted sizes: its band by rank, and the elbow of the measured curve."""
    table = atlas.diagnostics
    elbows = table[table["metric"] == ELBOW].set_index(["method", "task"])["value"]
    nulls = []
    for (method, task), rows in table[table["metric"] == CURVE].groupby(["method", "task"], sort=False):
        points = rows.sort_values("rank").iloc[_spread(len(rows))]
        elbow = elbows.get((method, task))
        nulls.append(
            {
                "method": method,
                "task": task,
                "elbow": None if elbow is None else int(elbow),
                **{name: numbers(points[name]) for name in ("rank", "null_low", "null_high")},
            }
        )
    return nulls


def _spread(length: int) -> list[int]:
    """Which points of a long curve to show: evenly spaced in the square root of the rank."""
    if length <= CURVE_POINTS:
        return list(range(length))
    return sorted({round((length - 1) * (i / (CURVE_POINTS - 1)) ** 2) for i in range(CURVE_POINTS)})
