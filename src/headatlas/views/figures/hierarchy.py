"""Do high-level steps fail without the heads of the low-level functions they build on?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from headatlas.views.figures import matrix, style
from headatlas.views.figures.rows import evidence, only, single

if TYPE_CHECKING:
    from headatlas.atlas.reading import Atlas

CELL = (1.3, 0.72)  # inches
NAMES = 1.75


def draw_hierarchy(atlas: Atlas, method: str) -> Figure:
    """Low x high: what the top heads cost beyond random ones, bold where the interval excludes zero; below it both."""
    rows = only(evidence(atlas, "hierarchy", method), metric="logprob")
    beyond = only(rows, control="top minus random")
    lows, highs = (list(dict.fromkeys(beyond[column])) for column in ("task", "eval_task"))
    grid = beyond.pivot(index="task", columns="eval_task", values="value").reindex(index=lows, columns=highs)
    size = (max(CELL[0] * len(highs), 1.5) + NAMES + 0.9, max(CELL[1] * len(lows), 1.0) + 1.5)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    image = matrix.signed_image(axes, grid.to_numpy())
    for row, low in enumerate(lows):
        for column, high in enumerate(highs):
            own = only(rows, task=low, eval_task=high)
            ends = [single(own, side, control="top minus random") for side in ("low", "high")]
            sure = ends[0] > 0 or ends[1] < 0
            text = style.number(grid.loc[low, high]) + "*" * sure
            weight = "bold" if sure else "normal"
            matrix.cell_text(axes, image, row, column, text, below=-0.2, size=style.TITLE, fontweight=weight)
            both = [only(own, control=control)["change"].mean() for control in ("top", "random")]
            small = f"top {style.number(both[0])}\nrandom {style.number(both[1])}"
            matrix.cell_text(axes, image, row, column, small, below=0.2)
    matrix.name_cells(axes, lows, highs, NAMES, upright=CELL[0])
    axes.set_ylabel(f"Heads removed:\ntop {int(beyond['k'].max())} by {method} of")
    axes.set_xlabel("Measured on the steps of", labelpad=8)
    axes.xaxis.set_label_position("top")
    matrix.signed_bar(figure, image, axes, "Top minus random: log-probability (nats)\n* 95 % interval excludes zero")
    return figure
