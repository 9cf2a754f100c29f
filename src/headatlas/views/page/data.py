"""What the page shows, as plain data: every table of an atlas, small enough to travel inside the page."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from headatlas.patterns.agreement import agreement
from headatlas.stats import Array, half_width

if TYPE_CHECKING:
    from headatlas.atlas.reading import Atlas
    from headatlas.patterns import Finding

ENOUGH_DRAWS = 20  # with fewer, a band is the range of the draws
CURVE_POINTS = 200  # of a longer curve, so many places are shown, denser where it is steep


def describe(atlas: Atlas, findings: Iterable[Finding] = (), files: Sequence[str] = ()) -> dict[str, Any]:
    """One atlas as JSON-ready data. Maps are base64 of little-endian float32 in the order layer * heads + head."""
    model = atlas.run["model"]
    mapped = set(atlas.tasks)
    tasks = list(dict.fromkeys([*atlas.run["suite"].get("tasks", ()), *atlas.verdicts, *atlas.tasks]))
    return {
        "folder": atlas.path.resolve().name,
        "model": model,
        "tasks": [{"name": task, "mapped": task in mapped, "verdict": atlas.verdicts.get(task)} for task in tasks],
        "methods": [{"name": method, "primary": atlas.choose_measure(method)} for method in atlas.methods],
        "maps": list(_maps(atlas)),
        "competence": _records(atlas.competence),
        "attention": _attention(atlas),
        "diagnostics": _diagnostics(atlas),
        "evidence": _evidence(atlas.evidence),
        "agreement": _records(agreement(atlas)),
        "findings": [_finding(found) for found in findings],
        "run": {key: value for key, value in atlas.run.items() if key not in ("groups", "model")},
        "files": list(files),
    }


def _maps(atlas: Atlas) -> Iterable[dict[str, Any]]:
    layers, heads = atlas.shape
    groups = atlas.run.get("groups", {})
    for (method, measure, task, seed), rows in atlas.scores.groupby(["method", "measure", "task", "seed"], sort=False):
        places = rows["layer"].to_numpy() * heads + rows["head"].to_numpy()
        columns = {
            short: _flat(places, rows[column], layers * heads)
            for short, column in (("value", "value"), ("stderr", "stderr"), ("q", "q_value"))
        }
        reach = half_width(groups.get(method, {}).get(task, 0))
        yield {"method": method, "measure": measure, "task": task, "seed": int(seed), "reach": number(reach), **columns}


def _flat(places: Array, values: pd.Series, size: int) -> str | None:
    """Values at their places as base64, NaN elsewhere; null if none is finite."""
    flat = np.full(size, np.nan, dtype="<f4")
    flat[places] = values.to_numpy()
    return base64.b64encode(flat.tobytes()).decode() if np.isfinite(flat).any() else None


def _attention(atlas: Atlas) -> dict[str, str | None]:
    """One map for each thing that heads look at."""
    rows = atlas.diagnostics[atlas.diagnostics["method"] == "attention"]
    size = atlas.shape[0] * atlas.shape[1]
    return {
        str(look): _flat(own["place"].to_numpy(dtype=int), own["value"], size)
        for look, own in rows.groupby("metric", sort=False)
    }


def _diagnostics(atlas: Atlas) -> dict[str, list[dict[str, Any]]]:
    """Single numbers, and curves as columns."""
    table = atlas.diagnostics.drop(columns="model")
    table = table[table["method"] != "attention"]
    single = table[table["place"].isna()].drop(columns="place")
    curves = []
    keys = ["method", "metric", "task", "seed"]
    for key, rows in table[table["place"].notna()].groupby(keys, sort=False, dropna=False):
        ordered = rows.sort_values("place").iloc[_steps(len(rows))]
        columns = {name: _numbers(ordered[name]) for name in ("place", "value", "low", "high")}
        curves.append(dict(zip(keys, map(plain, key), strict=True)) | columns)
    return {"numbers": _records(single), "curves": curves}


def _steps(length: int) -> list[int]:
    """Which places of a long curve to show: evenly spaced in the square root of the place."""
    if length <= CURVE_POINTS:
        return list(range(length))
    return sorted({round((length - 1) * (i / (CURVE_POINTS - 1)) ** 2) for i in range(CURVE_POINTS)})


def _evidence(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Series over k. Draws of a random control become their mean, with the band of 95 % of them, or all if few."""
    keys = ["method", "test", "task", "eval_task", "control", "metric"]
    grouped = table.groupby([*keys, "k"], sort=False, dropna=False)
    points = grouped.agg(
        value=("value", "mean"), low=("low", "first"), high=("high", "first"), baseline=("baseline", "mean"),
        draws=("value", "size"),
    )  # fmt: skip
    drawn, few = points["draws"] > 1, points["draws"].between(2, ENOUGH_DRAWS - 1)
    for name, share in (("low", 0.025), ("high", 0.975)):
        points.loc[drawn, name] = grouped["value"].quantile(share)[drawn]
        points.loc[few, name] = grouped["value"].quantile(round(share))[few]
    series: dict[tuple[Any, ...], dict[str, Any]] = {}
    columns = ("k", "value", "low", "high", "baseline", "draws")
    for row in points.reset_index().to_dict("records"):
        key = tuple(plain(row[name]) for name in keys)
        own = series.setdefault(key, dict(zip(keys, key, strict=True)) | {name: [] for name in columns})
        for name in columns:
            own[name].append(plain(row[name]))
    for own in series.values():
        order = sorted(range(len(own["k"])), key=lambda i: -1 if own["k"][i] is None else own["k"][i])
        own |= {name: [own[name][i] for i in order] for name in columns}
    return list(series.values())


def _finding(found: Finding) -> dict[str, Any]:
    tasks = [found.tasks] if isinstance(found.tasks, str) else list(found.tasks or ())
    return {
        "kind": str(found.kind),
        "tasks": [str(task) for task in tasks],
        "method": plain(found.method),
        "statement": str(found.statement),
        **{name: plain(getattr(found, name)) for name in ("value", "effect", "null", "p", "p_adjusted")},
        "supported": bool(found.supported),
        "heads": [[int(layer), int(head)] for layer, head in found.heads or ()],
    }


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{key: plain(value) for key, value in row.items()} for row in table.to_dict("records")]


def _numbers(column: Iterable[Any]) -> list[float | None]:
    return [number(value) for value in column]


def plain(value: Any) -> Any:
    """A value of a table as JSON: text stays, numbers are rounded, what is missing is null."""
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return number(value)
    return None if value is pd.NA or value is pd.NaT else str(value)


def number(value: Any) -> float | int | None:
    """Four significant digits; whole numbers as such; null for what is not finite."""
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.4g}") if abs(value) < 1e4 else round(float(value), 1)
    return int(rounded) if rounded == int(rounded) else rounded
