"""What pushing or scaling the heads of a task gains on it, and what that costs elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from headatlas.views.figures import parts, style
from headatlas.views.figures.rows import NEUTRAL, evidence, only, single

if TYPE_CHECKING:
    from headatlas.atlas.reading import Atlas

STEERED = (style.VERMILION, "D")
SCALED = (  # from small to large
    (style.BLUE, "v"),
    (style.GREEN, "o"),
    (style.PURPLE, "^"),
    (style.ORANGE, "s"),
    (style.SKY, "P"),
)


def draw_steer(atlas: Atlas, method: str) -> Figure:
    """One row a task: gain in accuracy and in log-probability on it, and the change on neutral text beside them."""
    rows = evidence(atlas, "steer", method)
    tasks = list(dict.fromkeys(rows["task"]))
    alphas = only(rows, metric="alpha")
    changed = rows[rows["metric"] != "alpha"]
    scales = sorted(set(changed["control"]) - {"steer"}, key=lambda name: float(name.removeprefix("scale ")))
    steered = ["steer"] if "steer" in set(changed["control"]) else []
    looks = dict.fromkeys(steered, STEERED) | {scale: SCALED[i % len(SCALED)] for i, scale in enumerate(scales)}
    own = changed[changed["task"] == changed["eval_task"]]
    neutral = changed[(changed["eval_task"] == NEUTRAL) & (changed["task"] != NEUTRAL)]
    columns = [
        ("Accuracy\non the task", only(own, metric="accuracy")),
        ("Log-probability\non the task (nats)", only(own, metric="logprob")),
        ("Log-probability\non neutral text (nats)", only(neutral, metric="logprob")),
    ]
    columns = [(title, part) for title, part in columns if len(part)]
    figure = Figure(figsize=(2.1 * len(columns) + 1.9, 0.5 * len(tasks) + 1.3), layout="constrained")
    panels = figure.subplots(1, len(columns), sharey=True, squeeze=False)[0]
    for axes, (title, part) in zip(panels, columns, strict=True):
        _column(axes, part, tasks, looks)
        axes.set_title(title, fontsize=style.BASE)
    names = []
    for task in tasks:
        alpha = single(alphas, task=task)
        pushed = f"α = {alpha:g}" if alpha == alpha else "not steered" if steered else ""
        names.append(f"{style.wrapped(task, 1.8, style.BASE, 1 if pushed else 2)}\n{pushed}".rstrip())
    panels[0].set_yticks(range(len(tasks)), labels=names)
    panels[0].set_ylim(len(tasks) - 0.5, -0.5)
    figure.supxlabel(
        f"Change from the intact model, with 95 % intervals; top {int(changed['k'].max())} heads by {method}",
        fontsize=style.BASE,
    )
    handles = [
        parts.key(f"{control.replace('scale ', 'scaled by ')}", colour, marker=marker, linewidth=1.1)
        for control, (colour, marker) in looks.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles) if len(columns) > 1 else 2)
    return figure


def _column(axes: Axes, part: pd.DataFrame, tasks: list[str], looks: dict[str, tuple[str, str]]) -> None:
    parts.zero_line(axes, vertical=True)
    step = 0.7 / len(looks)
    for number, (control, (colour, marker)) in enumerate(looks.items()):
        rows = only(part, control=control)
        places = rows["task"].map(tasks.index) + (number - (len(looks) - 1) / 2) * step
        parts.whiskers(axes, places, rows["change_low"], rows["change_high"], colour, across=True)
        axes.plot(rows["change"], places, marker, color=colour, markersize=4, label=control)
    for place in range(0, len(tasks), 2):
        axes.axhspan(place - 0.5, place + 0.5, color="#f3f3f3", zorder=-1, linewidth=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(4))
