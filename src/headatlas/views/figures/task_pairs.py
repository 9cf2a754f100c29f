"""Heads of one task, measured on another: for every pair what they cost beyond the reference."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from headatlas.views.figures import matrix_parts
from headatlas.views.figures.style import TITLE, short_signed
from headatlas.views.figures.task_matrix import draw_task_matrix
from headatlas.views.metrics import metric
from headatlas.views.rows import Outcome, only, single

CELL = (1.3, 0.72)  # inches
NAMES = 1.75


def draw_matrix(outcome: Outcome) -> Figure:
    """By pairs where pairs of different tasks are compared with a reference; otherwise every task beside the others."""
    differences = only(outcome.differences, metric=outcome.test.headline)
    is_by_pairs = bool((differences["task"] != differences["eval_task"]).any())
    return draw_task_pairs(outcome) if is_by_pairs else draw_task_matrix(outcome)


def draw_task_pairs(outcome: Outcome) -> Figure:
    """What the chosen heads cost beyond the reference, bold where the interval excludes zero; below it both."""
    test = outcome.test
    levels = only(outcome.levels, metric=test.headline)
    differences = only(outcome.differences, metric=test.headline)
    head_tasks, measured = (list(dict.fromkeys(differences[column])) for column in ("task", "eval_task"))
    grid = differences.pivot(index="task", columns="eval_task", values="value")
    grid = grid.reindex(index=head_tasks, columns=measured)
    size = (max(CELL[0] * len(measured), 1.5) + NAMES + 0.9, max(CELL[1] * len(head_tasks), 1.0) + 1.5)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    image = matrix_parts.signed_image(axes, grid.to_numpy())
    for row, task in enumerate(head_tasks):
        for column, eval_task in enumerate(measured):
            cell = only(differences, task=task, eval_task=eval_task)
            is_sure = single(cell, "low") > 0 or single(cell, "high") < 0
            text = short_signed(grid.loc[task, eval_task]) + "*" * is_sure
            weight = "bold" if is_sure else "normal"
            matrix_parts.cell_text(axes, image, row, column, text, below=-0.2, size=TITLE, fontweight=weight)
            both = _both(only(levels, task=task, eval_task=eval_task), (test.chosen[0], test.reference))
            matrix_parts.cell_text(axes, image, row, column, both, below=0.2)
    matrix_parts.name_cells(axes, head_tasks, measured, NAMES, upright=CELL[0])
    axes.set_ylabel(matrix_parts.heads_label(outcome))
    axes.set_xlabel("Measured on", labelpad=8)
    axes.xaxis.set_label_position("top")
    less = f"{test.chosen[0]} less {differences['compared_with'].iloc[0]}"
    bar_text = f"{metric(test.headline).change}, {less}\n* 95 % interval excludes zero"
    matrix_parts.signed_bar(figure, image, axes, bar_text)
    return figure


def _both(levels: pd.DataFrame, controls: tuple[str | None, ...]) -> str:
    """The mean change under each control."""
    return "\n".join(
        f"{control} {short_signed(only(levels, control=control)['change'].mean())}" for control in controls if control
    )
