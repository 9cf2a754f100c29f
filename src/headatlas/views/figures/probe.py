"""How importance falls from head to head, and what of it shuffled labels give as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from headatlas.views.figures import parts, style
from headatlas.views.figures.rows import by_task, curves, only, single

if TYPE_CHECKING:
    from headatlas.atlas.reading import Atlas


def draw_elbow(atlas: Atlas, method: str) -> Figure:
    """One panel a task: |importance| in order, the band of 95 % of the probes with shuffled labels, and the elbow."""
    tasks = list(by_task(curves(atlas, method)))
    elbows = only(atlas.diagnostics, method=method, metric="elbow", seed=0)
    figure, panels = parts.panels(len(tasks))
    for axes, (task, curve) in zip(panels, tasks, strict=True):
        rank = curve["place"].to_numpy()
        axes.fill_between(rank, curve["low"], curve["high"], color=style.RANDOM, alpha=0.3, linewidth=0)
        axes.plot(rank, curve["value"], color=style.TOP, linewidth=1.4)
        axes.set_xlim(0, rank.max() + 1)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.yaxis.set_major_formatter("{x:g}")
        count = single(elbows, task=task)
        parts.entitle(axes, task, f"elbow at {count:.0f} of {len(rank)} heads")
        if count == count:
            axes.axvline(count, color=style.BLUE, linewidth=1, linestyle=(0, (4, 2)))
    parts.label(figure, "Rank of the head", f"|importance| by {method}")
    handles = [
        parts.key("heads in order", style.TOP),
        parts.band("shuffled labels, 95 % of them", style.RANDOM),
        parts.key("elbow", style.BLUE, linestyle=(0, (4, 2))),
    ]
    parts.legend(figure, handles, len(tasks))
    return figure
