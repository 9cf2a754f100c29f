"""How much of a task the heads of its map carry by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from headatlas.views.figures import parts, style
from headatlas.views.figures.rows import by_task, draws, evidence, only, single

if TYPE_CHECKING:
    from headatlas.atlas.reading import Atlas


def draw_keep(atlas: Atlas, method: str) -> Figure:
    """One panel a task: the recovered fraction against the number of heads kept; 0 without heads, 1 with all."""
    rows = evidence(atlas, "keep", method)
    areas = rows[rows["metric"].isin(["cpr", "cmd"])]
    tasks = list(by_task(only(rows, metric="fraction")))
    counts = {task: sorted({int(k) for k in own["k"]}) for task, own in tasks}
    every = sorted(set().union(*counts.values()))
    usual = [k for k in every if all(k in own for own in counts.values())]
    figure, panels = parts.panels(len(tasks), width=2.45, height=2.0)
    for axes, (task, own) in zip(panels, tasks, strict=True):
        parts.zero_line(axes)
        parts.zero_line(axes, at=1)
        parts.spread(axes, draws(only(own, control="random"), "value"))
        top = only(own, control="top").sort_values("k")
        parts.whiskers(axes, top["k"], top["low"], top["high"], style.TOP)
        axes.plot(top["k"], top["value"], marker="o", color=style.TOP, markersize=3.5, linewidth=1.3, label="top")
        parts.head_counts(axes, every, counts[task], usual)
        lines = []
        for metric in ("cpr", "cmd"):
            area = only(areas, task=task, metric=metric)
            value, random = (single(area, control=control) for control in ("top", "random"))
            low, high = (single(area, side, control="top") for side in ("low", "high"))
            interval = f"{style.number(low, sign=False)} to {style.number(high, sign=False)}"
            random_text = f"; random {style.number(random, sign=False)}" if random == random else ""
            lines.append(f"{metric.upper()} {style.number(value, sign=False)} ({interval}){random_text}")
        parts.entitle(axes, task, "\n".join(lines))
    parts.label(figure, f"Heads kept, ranked by {method}", "Recovered fraction f")
    handles = [
        parts.key("top, 95 % interval", style.TOP, marker="o"),
        parts.band("random, same layers: mean and 95 % of draws", style.RANDOM, line=True),
    ]
    parts.legend(figure, handles, len(tasks))
    return figure
