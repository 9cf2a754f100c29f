"""What an intervention on the heads of a task gains on it, and what that costs elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from headatlas.views.colours import SERIES, STRIPE, TOP
from headatlas.views.figures import panels
from headatlas.views.figures.style import BASE, wrapped
from headatlas.views.metrics import metric
from headatlas.views.rows import NEUTRAL, Outcome, only

MARKERS = ("v", "o", "^", "s", "P")


@dataclass(frozen=True)
class Series:
    """One intervention in all tasks: a control, and its factor where it has several."""

    control: str
    factor: float | None
    colour: str
    marker: str

    @property
    def label(self) -> str:
        return self.control if self.factor is None else f"{self.control} × {self.factor:g}"

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        rows = only(table, control=self.control)
        return rows if self.factor is None else only(rows, factor=self.factor)


def draw_change(outcome: Outcome) -> Figure:
    """One row per task: the change of every metric on it, and the change on neutral text beside them."""
    levels = outcome.levels
    tasks = list(dict.fromkeys(levels["task"]))
    series = _series(outcome)
    on_task = levels[levels["task"] == levels["eval_task"]]
    neutral = levels[(levels["eval_task"] == NEUTRAL) & (levels["task"] != NEUTRAL)]
    columns = [(_title(name, "the task"), only(on_task, metric=name)) for name in outcome.metrics]
    columns.append((_title("logprob", f"{NEUTRAL.lower()} text"), only(neutral, metric="logprob")))
    columns = [(title, rows) for title, rows in columns if len(rows)]
    figure = Figure(figsize=(2.1 * len(columns) + 1.9, 0.5 * len(tasks) + 1.3), layout="constrained")
    all_axes = figure.subplots(1, len(columns), sharey=True, squeeze=False)[0]
    for axes, (title, rows) in zip(all_axes, columns, strict=True):
        _column(axes, rows, tasks, series)
        axes.set_title(title, fontsize=BASE)
    all_axes[0].set_yticks(range(len(tasks)), labels=[_task_label(task, levels, series) for task in tasks])
    all_axes[0].set_ylim(len(tasks) - 0.5, -0.5)
    figure.supxlabel(
        f"Change from the intact model, with 95 % intervals; {outcome.most_heads} heads by {outcome.chosen_by}",
        fontsize=BASE,
    )
    handles = [panels.key(one.label, one.colour, marker=one.marker, linewidth=1.1) for one in series]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles) if len(columns) > 1 else 2)
    return figure


def _series(outcome: Outcome) -> list[Series]:
    """A control that every task has once is one series, whatever its factor; of others every factor is one.

    An intervention has the same colour and marker whatever else was done.
    """
    series, number = [], 0
    for control in outcome.chosen:
        rows = only(outcome.levels, control=control)
        if not rows.duplicated(["task", "eval_task", "metric"]).any():
            series.append(Series(control, None, TOP, "D"))
            continue
        for factor in sorted(set(rows["factor"])):
            series.append(Series(control, factor, SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]))
            number += 1
    return series


def _title(name: str, where: str) -> str:
    measured = metric(name)
    label = f"{measured.label[:1].upper()}{measured.label[1:]}"
    return f"{label}\non {where}{f' ({measured.unit})' if measured.unit else ''}"


def _task_label(task: str, levels: pd.DataFrame, series: list[Series]) -> str:
    """The task, and below it the factor of the control that has one of its own in every task."""
    notes = []
    for one in series:
        if one.factor is None:
            factors = only(levels, task=task, control=one.control)["factor"].dropna()
            is_applied = len(only(levels, task=task, control=one.control)) > 0
            notes += [f"{one.control} × {factors.iloc[0]:g}"] if len(factors) else []
            notes += [] if is_applied else [f"no {one.control}"]
    note = ", ".join(notes)
    return f"{wrapped(task, 1.8, BASE, 1 if note else 2)}\n{note}".rstrip()


def _column(axes: Axes, rows: pd.DataFrame, tasks: list[str], series: list[Series]) -> None:
    panels.zero_line(axes, vertical=True)
    step = 0.7 / len(series)
    for i, one in enumerate(series):
        points = one.rows(rows)
        heights = points["task"].map(tasks.index) + (i - (len(series) - 1) / 2) * step
        panels.whiskers(axes, heights, points["change_low"], points["change_high"], one.colour, across=True)
        axes.plot(points["change"], heights, one.marker, color=one.colour, markersize=4, label=one.label)
    for y in range(0, len(tasks), 2):
        axes.axhspan(y - 0.5, y + 0.5, color=STRIPE, zorder=-1, linewidth=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(4))
