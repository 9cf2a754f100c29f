"""Whose heads are they: what the heads of each task do to every other task."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from headatlas.views.colours import TOP
from headatlas.views.figures import matrix_parts, panels
from headatlas.views.figures.style import BASE, SMALL, short_signed, wrapped
from headatlas.views.metrics import Metric, metric
from headatlas.views.rows import NEUTRAL, Outcome, only, single
from headatlas.wording import decimal

CELL = (0.52, 0.34)  # inches
NAMES = 1.75  # inches for the names of tasks


def draw_task_matrix(outcome: Outcome) -> Figure:
    """Rows: whose heads. Columns: what was measured. Beside it the heads of a task against others, and plain text."""
    test = outcome.test
    cells = only(outcome.levels, metric=test.headline, control=test.chosen[0])
    head_tasks, measured = (list(dict.fromkeys(cells[column])) for column in ("task", "eval_task"))
    differences = only(outcome.differences, metric=test.headline)
    neutral = outcome.levels[~outcome.levels["metric"].isin(outcome.metrics)]
    widths = [max(CELL[0] * len(measured), 1.5), *[1.5] * bool(len(differences)), *[1.05] * bool(len(neutral))]
    slanted = 0.05 * max(len(wrapped(task, NAMES, BASE, 1)) for task in measured)
    height = max(CELL[1] * len(head_tasks), 0.5) + slanted + 1.1
    figure = Figure(figsize=(sum(widths) + NAMES + 0.7, height), layout="constrained")
    grid = figure.add_gridspec(1, len(widths), width_ratios=widths)
    axes = figure.add_subplot(grid[0])
    image = _matrix(axes, cells, head_tasks, measured)
    if len(differences):
        _differences(figure.add_subplot(grid[1], sharey=axes), differences, head_tasks, metric(test.headline))
    if len(neutral):
        _neutral(figure.add_subplot(grid[-1], sharey=axes), neutral, head_tasks)
    axes.set_ylabel(matrix_parts.heads_label(outcome))
    matrix_parts.signed_bar(figure, image, axes, metric(test.headline).change)
    return figure


def _matrix(axes: Axes, cells: pd.DataFrame, head_tasks: list[str], measured: list[str]) -> Any:
    grid = cells.pivot(index="task", columns="eval_task", values="change").reindex(index=head_tasks, columns=measured)
    image = matrix_parts.signed_image(axes, grid.to_numpy())
    for row, task in enumerate(head_tasks):
        for column, eval_task in enumerate(measured):
            matrix_parts.cell_text(axes, image, row, column, short_signed(grid.loc[task, eval_task]))
            if task == eval_task:
                axes.add_patch(Rectangle((column - 0.47, row - 0.46), 0.94, 0.92, fill=False, linewidth=1.5, zorder=3))
    matrix_parts.name_cells(axes, head_tasks, measured, NAMES)
    if NEUTRAL in measured and NEUTRAL not in head_tasks:
        axes.axvline(measured.index(NEUTRAL) - 0.5, color="white", linewidth=4)
    axes.set_xlabel("Measured on", labelpad=8)
    axes.xaxis.set_label_position("top")
    return image


def _differences(axes: Axes, rows: pd.DataFrame, head_tasks: list[str], measured: Metric) -> None:
    """The heads of a task against the others, on the task itself; filled where the interval excludes zero."""
    panels.zero_line(axes, vertical=True)
    for y, task in enumerate(head_tasks):
        value, low, high = (single(rows, column, task=task) for column in ("value", "low", "high"))
        is_sure = low > 0 or high < 0
        panels.whiskers(axes, y, low, high, TOP, across=True)
        axes.plot([value], [y], "o", color=TOP, markersize=4.5, markerfacecolor=TOP if is_sure else "white")
    unit = f" ({measured.unit})" if measured.unit else ""
    axes.set_title(f"Less {rows['compared_with'].iloc[0]}\n{measured.label}{unit}", fontsize=BASE)
    axes.margins(x=0.1)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", left=False, labelleft=False)


def _neutral(axes: Axes, rows: pd.DataFrame, head_tasks: list[str]) -> None:
    """A metric that only neutral text has, intact and without the heads."""
    axes.set_xlim(0, 1)
    for y, task in enumerate(head_tasks):
        before, after = (decimal(single(rows, column, task=task), 1) for column in ("intact", "value"))
        axes.text(0.5, y, f"{before} → {after}", ha="center", va="center", fontsize=SMALL)
    name = metric(rows["metric"].iloc[0]).label
    axes.set_title(f"{name[:1].upper()}{name[1:]} of\n{NEUTRAL.lower()} text", fontsize=BASE)
    axes.axis("off")
