"""A number over the count of heads: what a task loses as heads are taken, by choice and at random."""

from __future__ import annotations

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headatlas.stats import LEVEL
from headatlas.views.colours import LOWEST, ORANGE, PURPLE, RANDOM, SKY, TOP
from headatlas.views.figures import panels
from headatlas.views.metrics import metric
from headatlas.views.rows import Outcome, by_task, draws, only
from headatlas.wording import p_value

LineStyle = tuple[str, str]  # colour, marker
CHOSEN_STYLES: tuple[LineStyle, ...] = ((TOP, "o"), (PURPLE, "D"), (ORANGE, "^"))
OTHER_STYLES: tuple[LineStyle, ...] = ((LOWEST, "s"), (SKY, "v"))


def draw_curve(outcome: Outcome) -> Figure:
    """One panel per task: the change of the headline metric against the number of heads; filled where q < 0.05."""
    return _draw(outcome, outcome.test.headline)


def draw_accuracy_curve(outcome: Outcome) -> Figure:
    """The same for accuracy, which has no p-value."""
    return _draw(outcome, "accuracy")


def _draw(outcome: Outcome, name: str) -> Figure:
    test, reference = outcome.test, outcome.test.reference
    rows = only(outcome.curve, metric=name)
    rows = rows[rows["k"] > 0]  # the axis is logarithmic
    compared = outcome.differences[outcome.differences["p_value"].notna() & (outcome.differences["metric"] == name)]
    styles = _line_styles(outcome.chosen, CHOSEN_STYLES) | _line_styles(outcome.others, OTHER_STYLES)
    tasks = list(by_task(rows))
    counts, every, usual = panels.task_counts(rows)
    figure, all_axes = panels.panels(len(tasks))
    for axes, (task, task_rows) in zip(all_axes, tasks, strict=True):
        tested = only(compared, task=task, control=test.chosen[0]).set_index("k").sort_index()
        _panel(axes, task_rows, tested["q_value"], outcome, styles)
        panels.head_counts(axes, every, counts[task], usual)
        verb = test.axis.removeprefix("heads ")
        note = f"q = {p_value(tested['q_value'].iloc[-1])} with {tested.index[-1]:.0f} {verb}" if len(tested) else ""
        panels.entitle(axes, task, note)
    panels.label(figure, panels.ranked_by(outcome), metric(name).change)
    handles: list[Artist] = [
        panels.key(_legend(control, test.chosen[0], reference, len(compared) > 0), colour, marker=marker)
        for control, (colour, marker) in styles.items()
    ]
    if reference:
        handles.append(panels.band(f"{reference}, same layers: mean and 95 % of draws", RANDOM, line=True))
    panels.legend(figure, handles, len(tasks))
    return figure


def _line_styles(controls: list[str], styles: tuple[LineStyle, ...]) -> dict[str, LineStyle]:
    return {control: styles[i % len(styles)] for i, control in enumerate(controls)}


def _legend(control: str, first: str, reference: str | None, has_p: bool) -> str:
    return f"{control} (filled: q < {LEVEL:g} among {reference})" if control == first and has_p else control


def _panel(axes: Axes, rows: pd.DataFrame, q_values: pd.Series, outcome: Outcome, styles: dict[str, LineStyle]) -> None:
    first, reference = outcome.test.chosen[0], outcome.test.reference
    panels.zero_line(axes)
    if reference:
        panels.spread(axes, draws(only(rows, control=reference), "change"), reference)
    alone = rows["k"].nunique() == 1
    aside = {control: panels.beside(i, len(styles)) if alone else 1.0 for i, control in enumerate(styles)}
    for control, (colour, marker) in reversed(styles.items()):
        line = only(rows, control=control).sort_values("k")
        at = line["k"] * aside[control]
        panels.whiskers(axes, at, line["change_low"], line["change_high"], colour)
        axes.plot(
            at, line["change"], marker=marker, color=colour, markersize=3.5, linewidth=1.3, label=control,
            markerfacecolor="white" if control == first and len(q_values) else colour,
        )  # fmt: skip
    sure = only(rows, control=first)
    sure = sure[sure["k"].map(q_values).lt(LEVEL)]
    axes.plot(sure["k"] * aside[first], sure["change"], "o", color=TOP, markersize=3.5, label="sure")
