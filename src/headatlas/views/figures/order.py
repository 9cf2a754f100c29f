"""Do roles predict ablation? What a task loses as heads are removed in the order of each role."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headatlas.views.colours import LINE
from headatlas.views.figures.roles import COLOURS, role_legend
from headatlas.views.figures.style import wrapped
from headatlas.views.metrics import metric
from headatlas.views.rows import Outcome, by_task, only


def draw_order(outcome: Outcome) -> Figure:
    """One panel per task: the change of the answers' log-probability by number of removed heads, with intervals."""
    rows = only(outcome.curve, metric=outcome.test.headline)
    tasks = list(by_task(rows))
    columns = min(3, len(tasks))
    lines = -(-len(tasks) // columns)
    figure = Figure(figsize=(3.5 * columns + 0.3, 2.7 * lines + 0.5), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    for axes, (task, task_rows) in zip(panels, tasks, strict=False):
        task_rows = task_rows.sort_values("k", kind="stable")
        axes.axhline(0, color=LINE, linewidth=0.7)
        for _, drawn in only(task_rows, control=outcome.test.reference).groupby("draw"):
            axes.plot(drawn["k"], drawn["change"], color=COLOURS["random"], linewidth=0.8, alpha=0.8)
        for role in outcome.chosen:
            curve = only(task_rows, control=role)
            axes.fill_between(
                curve["k"], curve["change_low"], curve["change_high"], color=COLOURS[role], alpha=0.15, linewidth=0
            )
            axes.plot(curve["k"], curve["change"], color=COLOURS[role], linewidth=1.5, marker="o", markersize=2.5)
        _number_heads(axes, int(task_rows["k"].max()))
        axes.set_title(wrapped(task, 3.2, lines=1))
        axes.set_xlabel(outcome.test.axis.capitalize())
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels[len(tasks) :]:
        axes.remove()
    panels[0].set_ylabel(metric(outcome.test.headline).change)
    role_legend(figure, (*outcome.chosen, "random"), {"random": "random heads of the same layers"})
    return figure


def _number_heads(axes: Axes, most: int) -> None:
    """A logarithmic axis that begins at no head."""
    axes.set_xscale("symlog", linthresh=1, linscale=0.5)
    ticks = [0, *(10**p for p in range(5) if 10**p < most * 0.6), most]
    axes.set_xticks(ticks, labels=[str(tick) for tick in ticks])
    axes.minorticks_off()
