"""How much of a task the heads of its map carry by themselves."""

from __future__ import annotations

from matplotlib.artist import Artist
from matplotlib.figure import Figure

from headatlas.views.colours import RANDOM, TOP
from headatlas.views.figures import panels
from headatlas.views.metrics import metric
from headatlas.views.rows import Outcome, by_task, draws, only, single
from headatlas.wording import MISSING, decimal, interval


def draw_recovery(outcome: Outcome) -> Figure:
    """One panel per task: the recovered fraction against the number of heads; 0 without heads, 1 with all."""
    chosen, reference = outcome.test.chosen[0], outcome.test.reference
    rows = only(outcome.curve, metric=outcome.test.headline)
    rows = rows[rows["k"] > 0]  # the axis is logarithmic
    tasks = list(by_task(rows))
    counts, every, usual = panels.task_counts(rows)
    figure, all_axes = panels.panels(len(tasks), width=2.45, height=2.0)
    for axes, (task, task_rows) in zip(all_axes, tasks, strict=True):
        panels.zero_line(axes)
        panels.zero_line(axes, at=1)
        if reference:
            panels.spread(axes, draws(only(task_rows, control=reference), "value"), reference)
        line = only(task_rows, control=chosen).sort_values("k")
        panels.whiskers(axes, line["k"], line["low"], line["high"], TOP)
        axes.plot(line["k"], line["value"], marker="o", color=TOP, markersize=3.5, linewidth=1.3, label=chosen)
        panels.head_counts(axes, every, counts[task], usual)
        panels.entitle(axes, task, "\n".join(_summaries(outcome, task)))
    measured = metric(outcome.test.headline).label
    panels.label(figure, panels.ranked_by(outcome), f"{measured[:1].upper()}{measured[1:]}")
    handles: list[Artist] = [panels.key(f"{chosen}, 95 % interval", TOP, marker="o")]
    if reference:
        handles.append(panels.band(f"{reference}, same layers: mean and 95 % of draws", RANDOM, line=True))
    panels.legend(figure, handles, len(tasks))
    return figure


def _summaries(outcome: Outcome, task: str) -> list[str]:
    """The numbers that sum up the curve of a task, such as the area under it."""
    lines = []
    for name in dict.fromkeys(outcome.summaries["metric"]):
        rows = only(outcome.summaries, task=task, metric=name)
        chosen = only(rows, control=outcome.test.chosen[0])
        random = decimal(single(rows, control=outcome.test.reference))
        beside = f"; {outcome.test.reference} {random}" if random != MISSING else ""
        ends = interval(single(chosen, "low"), single(chosen, "high"))
        lines.append(f"{metric(name).label} {decimal(single(chosen))} ({ends}){beside}")
    return lines
