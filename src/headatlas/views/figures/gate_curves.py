"""The course of gate fits: their objective and their open gates, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from headatlas.views.colours import QUIET, SERIES, VERMILION
from headatlas.views.figures.style import BASE, wrapped
from headatlas.views.rows import by_task, only

if TYPE_CHECKING:
    import pandas as pd

    from headatlas.atlas.atlas import Atlas

STAGES = {"base": "no penalty", "plus": "urged to open (+λ)", "minus": "urged to close (−λ)"}
SEED_COLOURS = (*SERIES, VERMILION, QUIET)
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)))  # of the stages
DOTS: dict[str, Any] = {
    "marker": "o",
    "markersize": 3.5,
    "markeredgecolor": "white",
    "markeredgewidth": 0.5,
    "linestyle": "none",
}


def draw_gate_curves(atlas: Atlas, method: str) -> Figure:
    """Rows: tasks. Columns: the objective of each stage by step (lines: fit; dots: choose), then the open gates."""
    courses = only(atlas.diagnostics, method=method)
    courses = courses[courses["step"].notna()].sort_values("step", kind="stable")
    tasks = list(by_task(courses))
    stages = {stage: title for stage, title in STAGES.items() if (courses["metric"] == f"{stage}_objective").any()}
    figure = Figure(figsize=(2.75 * (len(stages) + 1), 2.2 * len(tasks) + 0.4), layout="constrained")
    panels = figure.subplots(len(tasks), len(stages) + 1, squeeze=False)
    colours = {seed: SEED_COLOURS[i % len(SEED_COLOURS)] for i, seed in enumerate(sorted(courses["seed"].unique()))}
    for row, (task, task_courses) in zip(panels, tasks, strict=True):
        for axes, (stage, title) in zip(row, stages.items(), strict=False):
            _lines(axes, task_courses, f"{stage}_objective", colours, linewidth=0.9)
            _lines(axes, task_courses, f"{stage}_choose_objective", colours, **DOTS)
            axes.set_title(title[0].upper() + title[1:])
        row[0].set_ylabel(f"{wrapped(task, 2.0, BASE)}\n\nObjective (nats)")
        for stage, dash in zip(stages, DASHES, strict=False):
            _lines(row[-1], task_courses, f"{stage}_open", colours, linewidth=0.9, linestyle=dash)
        row[-1].set_title("Open gates")
        row[-1].set_ylim(bottom=0)
        row[-1].yaxis.set_major_locator(MaxNLocator(integer=True))
        for axes in row:
            axes.set_xlabel("Step")
            axes.spines[["top", "right"]].set_visible(False)
    lines = [Line2D([], [], color=colour, label=f"seed {seed}") for seed, colour in colours.items()]
    lines += [Line2D([], [], color="black", label="fit"), Line2D([], [], color="black", label="choose", **DOTS)]
    lines += [
        Line2D([], [], color="black", linestyle=dash, label=f"open gates, {stages[stage]}")
        for dash, stage in zip(DASHES, stages, strict=False)
    ]
    figure.legend(handles=lines, loc="outside lower center", ncols=min(6, len(lines)), frameon=False, fontsize=8)
    return figure


def _lines(axes: Axes, courses: pd.DataFrame, metric: str, colours: dict[int, str], **look: Any) -> None:
    """One line per seed."""
    for seed, colour in colours.items():
        course = only(courses, metric=metric, seed=seed)
        axes.plot(course["step"], course["value"], color=colour, **look)
