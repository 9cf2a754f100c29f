"""Tests whose outcome is a number over the count of heads: one chart per task."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from headatlas.atlas.declarations import TestInfo
from headatlas.stats import LEVEL
from headatlas.views.colours import ROLES
from headatlas.views.metrics import metric as metric_words
from headatlas.views.page.encoding import number, numbers
from headatlas.views.page.outcomes import ENOUGH_DRAWS, Point, change_interval, change_text, distinct
from headatlas.wording import count, decimal, interval


def describe_curves(info: TestInfo, points: Sequence[Point], metric: str) -> dict[str, Any]:
    levels = [p for p in points if p.is_level and p.metric == metric and p.factor is None and p.k is not None]
    charts = []
    for task in distinct(point.task for point in levels):
        note = _note(info, [point for point in points if point.task == task], metric)
        charts.append({"task": task, "note": note, **_chart(info, [p for p in levels if p.task == task])})
    key = [(line, _key_text(levels, control)) for control, line in _lines(info, levels).items()]
    return {"charts": charts, "key": key}


def _chart(info: TestInfo, levels: Sequence[Point]) -> dict[str, Any]:
    intact = next((point.intact for point in levels if not math.isnan(point.intact)), None)
    start = _start(info, levels, intact)
    series = []
    for control, line in _lines(info, levels).items():
        of_control = sorted((point for point in levels if point.control == control), key=lambda point: point.k or 0)
        curve = [(point.k or 0, point.value, point.low, point.high) for point in of_control]
        if start is not None and curve[0][0] > 0:
            curve.insert(0, (0, start, start, start))
        columns = zip(("k", "value", "low", "high"), zip(*curve, strict=True), strict=True)
        series.append({"control": control, "line": line, **{name: numbers(values) for name, values in columns}})
    # What was chosen by the map is drawn last, above the others.
    series.sort(key=lambda one: one["control"] in info.chosen)
    return {"intact": None if intact is None else number(intact), "series": series}


def _start(info: TestInfo, levels: Sequence[Point], intact: float | None) -> float | None:
    """The value with no head: that of the intact model where heads are removed; measured where heads are kept."""
    return intact if info.shape == "curve" else next((point.value for point in levels if point.k == 0), None)


def _lines(info: TestInfo, levels: Sequence[Point]) -> dict[str, str]:
    """The controls that are lines, in the declared order, with the name of their style.

    A control with a single point at 0 is where the others begin, not a line.
    """
    drawn = {point.control for point in levels if point.k}
    declared = [control.name for control in info.controls]
    others = itertools.cycle(("other-0", "other-1"))
    lines = {}
    for control in [*declared, *sorted(drawn - set(declared))]:
        if control not in drawn:
            continue
        if control in ROLES:
            lines[control] = control
        elif control == info.reference:
            lines[control] = "reference"
        else:
            lines[control] = f"chosen-{info.chosen.index(control) % 3}" if control in info.chosen else next(others)
    return lines


def _key_text(levels: Sequence[Point], control: str) -> str:
    draws = max(point.draws for point in levels if point.control == control)
    if draws < 2:
        return control
    return f"{control} ({count(draws, 'draw')})" if draws >= ENOUGH_DRAWS else f"{control} (range of {draws} draws)"


def _note(info: TestInfo, points: Sequence[Point], metric: str) -> str:
    """What is said in words beside the curve of a task."""
    differences = sorted((p for p in points if not p.is_level and p.k is not None), key=lambda p: p.k or 0)
    of_metric = [point for point in differences if point.metric == metric]
    beside = [p for p in points if p.is_level and p.metric == metric and p.factor is not None and p.k is not None]
    return "; ".join(
        [
            *_beyond_reference(_tested(info, differences, metric)),
            *([_difference(of_metric[-1])] if of_metric else []),
            *_single_numbers(info, [point for point in points if point.is_level and point.k is None]),
            *(f"{p.control} above {p.factor:g}: {decimal(p.value)} with {count(p.k or 0, 'head')}" for p in beside),
        ]
    )


def _tested(info: TestInfo, differences: Sequence[Point], metric: str) -> list[Point]:
    """The comparisons with a q-value: those of the metric, or of the headline where the metric has none."""
    tested = [point for point in differences if not math.isnan(point.q_value)]
    of_metric = [point for point in tested if point.metric == metric]
    return of_metric or [point for point in tested if point.metric == info.headline]


def _beyond_reference(tested: Sequence[Point]) -> list[str]:
    """From how many heads on the chosen ones are beyond the reference, where that was tested."""
    if not tested:
        return []
    beyond = next((point for point in tested if point.q_value < LEVEL), None)
    reference = tested[0].compared_with
    if not beyond:
        return [f"not beyond {reference} on these examples"]
    return [f"beyond {reference} from {count(beyond.k or 0, 'head')} on these examples"]


def _difference(point: Point) -> str:
    reach = change_interval(point.low, point.high)
    interval_text = f" ({reach} over other examples)" if reach else ""
    heads = count(point.k or 0, "head")
    return f"{point.control} minus {point.compared_with} {change_text(point.value)}{interval_text} with {heads}"


def _single_numbers(info: TestInfo, points: Sequence[Point]) -> list[str]:
    """Numbers about the whole curve, such as the area under it, with that of the reference."""
    texts = []
    for metric in distinct(point.metric for point in points):
        of_metric = {point.control: point for point in reversed(points) if point.metric == metric}
        chosen = next((of_metric[control] for control in info.chosen if control in of_metric), None)
        if chosen is None:
            continue
        inside = [] if math.isnan(chosen.low) else [interval(chosen.low, chosen.high)]
        if info.reference in of_metric:
            inside.append(f"{info.reference} {decimal(of_metric[info.reference].value)}")
        text = f"{metric_words(metric).label} {decimal(chosen.value)}"
        texts.append(f"{text} ({', '.join(inside)})" if inside else text)
    return texts
