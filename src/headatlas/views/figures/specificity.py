"""Whose heads are they: what the heads of each task do to every other task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from headatlas.views.figures import matrix, parts, style
from headatlas.views.figures.rows import NEUTRAL, evidence, only, single

if TYPE_CHECKING:
    from headatlas.atlas.reading import Atlas

CELL = (0.52, 0.34)  # inches
NAMES = 1.75  # inches for the names of tasks


def draw_specificity(atlas: Atlas, method: str) -> Figure:
    """Rows: whose heads were removed. Columns: what was measured. Beside it own minus others, and plain text."""
    rows = evidence(atlas, "specificity", method)
    cells = only(rows, metric="logprob", control="top")
    chosen, measured = (list(dict.fromkeys(cells[column])) for column in ("task", "eval_task"))
    extra = only(rows, metric="logprob", control="own minus others"), only(rows, metric="perplexity")
    widths = [
        max(CELL[0] * len(measured), 1.5),
        *(width for width, own in zip((1.5, 1.05), extra, strict=True) if len(own)),
    ]
    slanted = 0.05 * max(len(style.wrapped(task, NAMES, style.BASE, 1)) for task in measured)
    height = max(CELL[1] * len(chosen), 0.5) + slanted + 1.1
    figure = Figure(figsize=(sum(widths) + NAMES + 0.7, height), layout="constrained")
    places = figure.add_gridspec(1, len(widths), width_ratios=widths)
    axes = figure.add_subplot(places[0])
    image = _matrix(axes, cells, chosen, measured)
    beside = iter(range(1, len(widths)))
    if len(extra[0]):
        _own_minus_others(figure.add_subplot(places[next(beside)], sharey=axes), extra[0], chosen)
    if len(extra[1]):
        _perplexity(figure.add_subplot(places[next(beside)], sharey=axes), extra[1], chosen)
    axes.set_ylabel(f"Heads removed:\ntop {int(cells['k'].max())} by {method} of")
    matrix.signed_bar(figure, image, axes, "Change of log-probability (nats)")
    return figure


def _matrix(axes: Axes, cells: pd.DataFrame, chosen: list[str], measured: list[str]) -> Any:
    grid = cells.pivot(index="task", columns="eval_task", values="change").reindex(index=chosen, columns=measured)
    image = matrix.signed_image(axes, grid.to_numpy())
    for row, task in enumerate(chosen):
        for column, eval_task in enumerate(measured):
            matrix.cell_text(axes, image, row, column, style.number(grid.loc[task, eval_task]))
            if task == eval_task:
                axes.add_patch(Rectangle((column - 0.47, row - 0.46), 0.94, 0.92, fill=False, linewidth=1.5, zorder=3))
    matrix.name_cells(axes, chosen, measured, NAMES)
    if NEUTRAL in measured and NEUTRAL not in chosen:
        axes.axvline(measured.index(NEUTRAL) - 0.5, color="white", linewidth=4)
    axes.set_xlabel("Measured on", labelpad=8)
    axes.xaxis.set_label_position("top")
    return image


def _own_minus_others(axes: Axes, rows: pd.DataFrame, chosen: list[str]) -> None:
    parts.zero_line(axes, vertical=True)
    for place, task in enumerate(chosen):
        value, low, high = (single(rows, column, task=task) for column in ("value", "low", "high"))
        sure = low > 0 or high < 0
        parts.whiskers(axes, place, low, high, style.TOP, across=True)
        axes.plot(
            [value], [place], "o", color=style.TOP, markersize=4.5, markerfacecolor=style.TOP if sure else "white"
        )
    axes.set_title("Own minus others'\nheads (nats)", fontsize=style.BASE)
    axes.margins(x=0.1)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", left=False, labelleft=False)


def _perplexity(axes: Axes, rows: pd.DataFrame, chosen: list[str]) -> None:
    axes.set_xlim(0, 1)
    for place, task in enumerate(chosen):
        before, after = (single(rows, column, task=task) for column in ("baseline", "value"))
        text = " → ".join(f"{value:.1f}" if np.isfinite(value) else "–" for value in (before, after))
        axes.text(0.5, place, text, ha="center", va="center", fontsize=style.SMALL)
    axes.set_title("Perplexity of\nneutral text", fontsize=style.BASE)
    axes.axis("off")
