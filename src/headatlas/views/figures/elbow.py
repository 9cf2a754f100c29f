"""How the sizes of a map fall from head to head, and how much of that shuffled labels give as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from headatlas.views.colours import BLUE, RANDOM, TOP
from headatlas.views.figures import panels
from headatlas.views.rows import by_task, only, single

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas


def draw_elbow(atlas: Atlas, method: str) -> Figure:
    """One panel per task: sizes in order, the band of 95 % of the probes with shuffled labels, and the elbow."""
    curves = only(atlas.diagnostics, method=method, metric="curve", seed=0).sort_values("rank", kind="stable")
    tasks = list(by_task(curves))
    elbows = only(atlas.diagnostics, method=method, metric="elbow", seed=0)
    figure, all_axes = panels.panels(len(tasks))
    for axes, (task, curve) in zip(all_axes, tasks, strict=True):
        rank = curve["rank"].to_numpy()
        axes.fill_between(rank, curve["null_low"], curve["null_high"], color=RANDOM, alpha=0.3, linewidth=0)
        axes.plot(rank, curve["value"], color=TOP, linewidth=1.4)
        axes.set_xlim(0, rank.max() + 1)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.yaxis.set_major_formatter("{x:g}")
        count = single(elbows, task=task)
        if count == count:
            panels.entitle(axes, task, f"elbow at {count:.0f} of {len(rank)} heads")
            axes.axvline(count, color=BLUE, linewidth=1, linestyle=(0, (4, 2)))
        else:
            panels.entitle(axes, task)
    info = atlas.info(method)
    panels.label(figure, "Rank by size", f"Size of {info.measure(info.primary).label} by {method}")
    handles = [
        panels.key("heads in order", TOP),
        panels.band("shuffled labels, 95 % of them", RANDOM),
        panels.key("elbow", BLUE, linestyle=(0, (4, 2))),
    ]
    panels.legend(figure, handles, len(tasks))
    return figure
