"""What a task loses without the heads of its map, and without others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headatlas.views.figures import parts, style
from headatlas.views.figures.rows import by_task, draws, evidence, only

if TYPE_CHECKING:
    from headatlas.atlas.reading import Atlas

SURE = 0.05


def draw_mask(atlas: Atlas, method: str) -> Figure:
    """One panel a task: change of log-probability against the number of heads removed; filled where p < 0.05."""
    return _draw(atlas, method, "logprob", "Change of log-probability (nats)")


def draw_mask_accuracy(atlas: Atlas, method: str) -> Figure:
    """The same for accuracy. The p-value is that of log-probability, so there is none here."""
    return _draw(atlas, method, "accuracy", "Change of accuracy")


def _draw(atlas: Atlas, method: str, metric: str, what: str) -> Figure:
    rows = evidence(atlas, "mask", method)
    chances = only(rows, metric="p_value") if metric == "logprob" else rows.iloc[:0]
    rows = rows[(rows["metric"] == metric) & rows["control"].isin(["top", "lowest", "random"])]
    tasks = list(by_task(rows))
    counts = {task: sorted({int(k) for k in own["k"]}) for task, own in tasks}
    every = sorted(set().union(*counts.values()))
    usual = [k for k in every if all(k in own for own in counts.values())]
    figure, panels = parts.panels(len(tasks))
    for axes, (task, own) in zip(panels, tasks, strict=True):
        p = only(chances, task=task).set_index("k")["value"].sort_index()
        _panel(axes, own, p)
        parts.head_counts(axes, every, counts[task], usual)
        p = p.dropna()  # among too many heads there are no others to compare with
        parts.entitle(axes, task, f"p = {p.iloc[-1]:.2g} with {p.index[-1]:.0f} removed" if len(p) else "")
    parts.label(figure, f"Heads removed, ranked by {method}", what)
    handles = [
        parts.key("top", style.TOP, marker="o"),
        parts.key("lowest", style.LOWEST, marker="s"),
        parts.band("random, same layers: mean and 95 % of draws", style.RANDOM, line=True),
    ]
    if len(chances):
        handles[0].set_label(f"top (filled: p < {SURE:g} among random)")
    parts.legend(figure, handles, len(tasks))
    return figure


def _panel(axes: Axes, own: pd.DataFrame, chances: pd.Series) -> None:
    parts.zero_line(axes)
    drawn = draws(only(own, control="random"), "change")
    parts.spread(axes, drawn)
    for control, colour, marker in (("lowest", style.LOWEST, "s"), ("top", style.TOP, "o")):
        rows = only(own, control=control).sort_values("k")
        parts.whiskers(axes, rows["k"], rows["change_low"], rows["change_high"], colour)
        axes.plot(
            rows["k"], rows["change"], marker=marker, color=colour, markersize=3.5, linewidth=1.3, label=control,
            markerfacecolor=colour if control == "lowest" or not len(chances) else "white",
        )  # fmt: skip
    sure = only(own, control="top")
    sure = sure[sure["k"].map(chances).lt(SURE)]
    axes.plot(sure["k"], sure["change"], "o", color=style.TOP, markersize=3.5, label="sure")
