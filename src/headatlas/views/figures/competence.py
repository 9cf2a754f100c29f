"""What the intact model can do, before any head is touched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from headatlas.atlas.records import COMPETENT
from headatlas.views.colours import BLUE, LINE, QUIET, RANDOM
from headatlas.views.figures import panels
from headatlas.views.figures.style import BASE, wrapped

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas


def draw_competence(atlas: Atlas) -> Figure:
    """One row per task: accuracy with its interval, and what guessing gives; tasks at chance are grey."""
    table = atlas.competence
    figure = Figure(figsize=(5.2, 0.34 * len(table) + 1.2), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right", "left"]].set_visible(False)
    for y, row in enumerate(table.itertuples()):
        colour = BLUE if row.verdict == COMPETENT else LINE
        panels.whiskers(axes, y, row.low, row.high, colour, across=True)
        axes.plot([row.accuracy], [y], "o", color=colour, markersize=5, clip_on=False)
        axes.plot([row.chance], [y], "|", color=RANDOM, markersize=10)
    axes.set_yticks(range(len(table)), labels=[wrapped(task, 1.9, BASE) for task in table["task"]])
    axes.set_ylim(len(table) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
    axes.set_xlabel(f"Right answers of the intact {atlas.run.model.name}, with 95 % intervals", color=QUIET)
    handles = [
        panels.key("competent", BLUE, marker="o"),
        panels.key("not competent", LINE, marker="o"),
        panels.key("guessing", RANDOM, marker="|", linewidth=0, markersize=10),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure
