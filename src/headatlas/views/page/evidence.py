"""What interventions did, ready to be drawn: by the shape that a test declares, never by its name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from headatlas.atlas.declarations import TestInfo
from headatlas.views.metrics import metric as metric_words
from headatlas.views.page.evidence_curves import describe_curves
from headatlas.views.page.evidence_tables import describe_changes, describe_matrix, describe_rows
from headatlas.views.page.outcomes import Point, average_draws, distinct, metric_names
from headatlas.views.rows import with_headline
from headatlas.wording import count, decimal, signed

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.atlas.declarations import MethodInfo
    from headatlas.atlas.run_record import Verification

Describe = Callable[[TestInfo, Sequence[Point], str], dict[str, Any]]  # the test, what it gave, the metric
# A shape that is not among these is shown as a plain table.
SHAPES: dict[str, tuple[str, Describe]] = {
    "curve": ("charts", describe_curves),
    "recovery": ("charts", describe_curves),
    "matrix": ("matrix", describe_matrix),
    "change": ("matrix", describe_changes),
}


def describe_evidence(atlas: Atlas) -> list[dict[str, Any]]:
    """One entry per method and test, in the order in which the tests are declared."""
    infos = {info.name: info for info in atlas.run.tests}
    settings = {(done.method, done.test): done for done in atlas.run.verifications}
    outcomes = []
    for (method, test), rows in atlas.evidence.groupby(["method", "test"], sort=False):
        outcomes.append(describe_test(infos[test], rows, atlas.info(method), settings.get((method, test))))
    order = list(infos)
    return sorted(outcomes, key=lambda outcome: order.index(outcome["test"]))


def describe_test(
    info: TestInfo, rows: pd.DataFrame, method: MethodInfo, verification: Verification | None = None
) -> dict[str, Any]:
    info = with_headline(info, rows)
    layout, describe = SHAPES.get(info.shape, ("rows", describe_rows))
    points = average_draws(rows)
    return {
        "test": info.name,
        "method": method.name,
        "title": info.title,
        "question": info.question,
        "layout": layout,
        "axis": info.axis,
        "controls": [control.model_dump() for control in info.controls],
        "settings": _settings(verification),
        "metrics": [
            {"metric": name, "label": words.label, "value": words.with_unit, **describe(info, points, name)}
            for name in metric_names(info, points)
            if (words := metric_words(name))
        ],
        "heads": list(_tested_heads(info, points, method)) if _by_rank(method, verification) else [],
    }


def _by_rank(method: MethodInfo, verification: Verification | None) -> bool:
    """Whether heads were taken in the order in which the page ranks them: by the method's primary measure."""
    measure = verification.settings.get("measure") if verification else None
    return measure in (None, method.primary)


def _settings(verification: Verification | None) -> list[tuple[str, str]]:
    """With what settings a test was run, as pairs of texts."""
    if verification is None:
        return []
    return [
        *((name.replace("_", " "), _text(value)) for name, value in verification.settings.items()),
        ("finished", verification.finished),
    ]


def _text(value: Any) -> str:
    if value is None:
        return "not limited"
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _tested_heads(info: TestInfo, points: Sequence[Point], method: MethodInfo) -> Iterator[dict[str, Any]]:
    """Per task: how many of the first heads of the map were taken, and what that did.

    A head of rank r was part of the intervention with k heads if r is at most k. That holds only for a control that
    takes heads in the order of the map: one named after another measure follows that measure.
    """
    control = next(iter(info.chosen), None)
    measures = {measure.name for measure in method.measures}
    metrics = metric_names(info, points)
    if not metrics or control is None or (control in measures and control != method.primary):
        return
    levels = [p for p in points if p.is_level and p.k and (p.control, p.metric) == (control, metrics[0])]
    if info.shape in ("curve", "recovery"):
        levels = [point for point in levels if point.factor is None]
    for task in distinct(point.task for point in levels):
        of_task = [point for point in levels if point.task == task]
        counts = sorted({point.k for point in of_task if point.k})
        outcomes = [_outcome(info, [point for point in of_task if point.k == k]) for k in counts]
        yield {"task": task, "k": counts, "outcomes": outcomes}


def _outcome(info: TestInfo, points: Sequence[Point]) -> str:
    """What one intervention did to the task itself where that was measured, otherwise to all tasks that were."""
    name = metric_words(points[0].metric).short
    same = [point for point in points if point.eval_task == point.task]
    if same or len(points) == 1:
        point = (same or points)[0]
        before = "" if info.shape == "recovery" or math.isnan(point.intact) else f"{decimal(point.intact)} → "
        return f"{name} {before}{decimal(point.value)}"
    changes = [point.change[0] for point in points if not math.isnan(point.change[0])]
    return f"{name} {signed(min(changes))} to {signed(max(changes))} in {count(len(changes), 'other task')}"
