"""Tests whose outcome is a number over the count of heads: one chart per task."""

from __future__ import annotations

from typing import Any

import pandas as pd

from headatlas.atlas.declarations import TestInfo
from headatlas.stats import LEVEL
from headatlas.views.colours import ROLES
from headatlas.views.metrics import metric as metric_words
from headatlas.views.page.encoding import number, numbers
from headatlas.views.page.outcomes import ENOUGH_DRAWS, change_interval, change_text
from headatlas.wording import count, decimal, interval


def describe_curves(info: TestInfo, rows: pd.DataFrame, metric: str) -> dict[str, Any]:
    levels = rows[rows["compared_with"].isna() & rows["factor"].isna() & rows["k"].notna()]
    levels = levels[levels["metric"] == metric]
    charts = [
        {"task": task, "note": _note(info, rows[rows["task"] == task], metric), **_chart(info, task_levels)}
        for task, task_levels in levels.groupby("task", sort=False)
    ]
    lines = _lines(info, levels)
    return {"charts": charts, "key": [(line, _key_text(levels, control)) for control, line in lines.items()]}


def _chart(info: TestInfo, levels: pd.DataFrame) -> dict[str, Any]:
    intact = levels["intact"].dropna()
    level = float(intact.iloc[0]) if len(intact) else None
    start = _start(info, levels, level)
    series = []
    for control, line in _lines(info, levels).items():
        points = levels[levels["control"] == control].sort_values("k")
        columns = {name: points[name].tolist() for name in ("k", "value", "low", "high")}
        if start is not None and columns["k"][0] > 0:
            columns = {name: [0 if name == "k" else start, *values] for name, values in columns.items()}
        series.append({"control": control, "line": line, **{name: numbers(v) for name, v in columns.items()}})
    # What was chosen by the map is drawn last, above the others.
    series.sort(key=lambda one: one["control"] in info.chosen)
    return {"intact": None if level is None else number(level), "series": series}


def _start(info: TestInfo, levels: pd.DataFrame, intact: float | None) -> float | None:
    """The value with no head: that of the intact model where heads are removed; measured where heads are kept."""
    if info.shape == "curve":
        return intact
    without = levels[levels["k"] == 0]["value"]
    return float(without.iloc[0]) if len(without) else None


def _lines(info: TestInfo, levels: pd.DataFrame) -> dict[str, str]:
    """The controls that are lines, in the declared order, with the name of their style.

    A control with a single point at 0 is where the others begin, not a line.
    """
    drawn = set(levels.loc[levels["k"] > 0, "control"])
    declared = [control.name for control in info.controls]
    others = 0
    lines = {}
    for control in [*declared, *sorted(drawn - set(declared))]:
        if control not in drawn:
            continue
        if control in ROLES:
            lines[control] = control
        elif control == info.reference:
            lines[control] = "reference"
        elif control in info.chosen:
            lines[control] = f"chosen-{info.chosen.index(control) % 3}"
        else:
            lines[control] = f"other-{others % 2}"
            others += 1
    return lines


def _key_text(levels: pd.DataFrame, control: str) -> str:
    draws = int(levels.loc[levels["control"] == control, "draws"].max())
    if draws < 2:
        return control
    return f"{control} ({count(draws, 'draw')})" if draws >= ENOUGH_DRAWS else f"{control} (range of {draws} draws)"


def _note(info: TestInfo, rows: pd.DataFrame, metric: str) -> str:
    """What is said in words beside a curve."""
    return "; ".join(
        [*_beyond_reference(rows), *_differences(rows, metric), *_single(info, rows), *_at_factor(rows, metric)]
    )


def _beyond_reference(rows: pd.DataFrame) -> list[str]:
    """From how many heads on the chosen ones are beyond the reference, where that was tested."""
    tested = rows[rows["compared_with"].notna() & rows["p_value"].notna()].sort_values("k")
    if tested.empty:
        return []
    reference = tested["compared_with"].iloc[0]
    beyond = tested[tested["p_value"] < LEVEL]
    if beyond.empty:
        return [f"not beyond {reference}"]
    return [f"beyond {reference} from {count(int(beyond['k'].iloc[0]), 'head')}"]


def _differences(rows: pd.DataFrame, metric: str) -> list[str]:
    differences = rows[rows["compared_with"].notna() & (rows["metric"] == metric)].sort_values("k")
    if differences.empty:
        return []
    last = differences.iloc[-1]
    reach = change_interval(last["low"], last["high"])
    return [
        f"{last['control']} minus {last['compared_with']} {change_text(last['value'])}"
        + (f" ({reach})" if reach else "")
        + f" with {count(int(last['k']), 'head')}"
    ]


def _single(info: TestInfo, rows: pd.DataFrame) -> list[str]:
    """Numbers about the whole curve, such as the area under it."""
    single = rows[rows["k"].isna() & rows["compared_with"].isna()]
    texts = []
    for metric, of_metric in single.groupby("metric", sort=False):
        chosen = of_metric[of_metric["control"].isin(info.chosen)]
        reference = of_metric[of_metric["control"] == info.reference]
        if chosen.empty:
            continue
        row = chosen.iloc[0]
        inside = [] if pd.isna(row["low"]) else [interval(row["low"], row["high"])]
        inside += [f"{info.reference} {decimal(value)}" for value in reference["value"]]
        texts.append(
            f"{metric_words(metric).label} {decimal(row['value'])}" + (f" ({', '.join(inside)})" if inside else "")
        )
    return texts


def _at_factor(rows: pd.DataFrame, metric: str) -> list[str]:
    """Interventions beside the curve: all heads above a threshold at once."""
    beside = rows[rows["factor"].notna() & rows["compared_with"].isna() & (rows["metric"] == metric)]
    return [
        f"{row.control} above {row.factor:g}: {decimal(row.value)} with {count(int(row.k), 'head')}"
        for row in beside.itertuples()
        if not pd.isna(row.k)
    ]
