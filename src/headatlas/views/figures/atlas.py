"""The atlas picture: every head in one grid, its hue what it is specifically for, its strength how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from headatlas.errors import HeadAtlasError
from headatlas.patterns.functions import function_counts, head_functions, specific_method, strength
from headatlas.stats import LEVEL
from headatlas.views.figures.style import BASE, SMALL, wrapped
from headatlas.views.scale import tick_step

if TYPE_CHECKING:
    import pandas as pd

    from headatlas.atlas.atlas import Atlas

# Okabe and Ito's colours in an order in which neighbours differ in lightness too; more tasks repeat them with letters.
HUES = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#f0e442", "#000000")
NOTHING = "#ececec"
WEAKEST = 0.35  # how far the weakest head is from white
MOST_LETTERS = 1200  # heads; in a larger grid letters could not be read


def draw_atlas(atlas: Atlas, method: str | None = None) -> Figure:
    """Grey heads are not shown to be for anything; a head with several functions is split between them."""
    name = specific_method(atlas, method)
    if name is None:
        raise HeadAtlasError(
            f"The atlas {atlas.path} does not say how specific heads are. Map it with the method ablate."
        )
    functions = head_functions(atlas, name)
    tasks = atlas.tasks_of(name)
    colours = {task: HUES[i % len(HUES)] for i, task in enumerate(tasks)}
    letters = initials(tasks)
    layers, heads = atlas.shape
    cell = min(0.34, 9 / max(layers, heads))
    figure = Figure(figsize=(heads * cell + 3.4, max(layers * cell, 2.6) + 0.9), layout="constrained")
    axes, key = figure.subplots(1, 2, width_ratios=[heads * cell, 2.6])
    axes.add_patch(Rectangle((-0.5, -0.5), heads, layers, facecolor=NOTHING, edgecolor="none"))
    most = float(functions["share"].max()) if len(functions) else 0.0
    for (layer, head), rows in functions.groupby(["layer", "head"]):
        _head(axes, layer, head, rows, colours, letters if layers * heads <= MOST_LETTERS else {}, most)
    axes.set_xlim(-0.5, heads - 0.5)
    axes.set_ylim(layers - 0.5, -0.5)
    axes.set_aspect("equal")
    axes.set_xticks(np.arange(-0.5, heads), minor=True)
    axes.set_yticks(np.arange(-0.5, layers), minor=True)
    axes.grid(which="minor", color="white", linewidth=0.8)
    axes.tick_params(which="minor", length=0)
    axes.set_xticks(range(0, heads, tick_step(heads)))
    axes.set_yticks(range(0, layers, tick_step(layers)))
    axes.set_xlabel("Head")
    axes.set_ylabel("Layer")
    for side in axes.spines.values():
        side.set_visible(False)
    _key(key, functions, tasks, colours, letters, layers * heads)
    return figure


def _head(
    axes: Axes, layer: int, head: int, rows: pd.DataFrame, colours: dict[str, str], letters: dict[str, str], most: float
) -> None:
    """One cell, split from left to right between its functions."""
    entries = list(rows.itertuples())
    width = 1 / len(entries)
    for i, row in enumerate(entries):
        depth = WEAKEST + (1 - WEAKEST) * float(strength(np.array(row.share), most))
        colour = shade(colours[row.task], depth)
        axes.add_patch(Rectangle((head - 0.5 + i * width, layer - 0.5), width, 1, facecolor=colour, edgecolor="none"))
        if letters and len(entries) == 1:
            ink = "white" if luminance(colour) < 0.45 else "#222222"
            axes.text(head, layer, letters[row.task], ha="center", va="center", fontsize=SMALL, color=ink)


def _key(
    axes: Axes, functions: pd.DataFrame, tasks: list[str], colours: dict[str, str], letters: dict[str, str], total: int
) -> None:
    axes.axis("off")
    counts = function_counts(functions, tasks)
    handles = [
        Patch(facecolor=colours[task], label=f"{letters[task]}  {wrapped(task, 2.3, BASE, lines=1)}: {counts[task]}")
        for task in tasks
    ]
    shown = len(functions.drop_duplicates(["layer", "head"]))
    handles.append(Patch(facecolor=NOTHING, edgecolor="#bbbbbb", label=f"nothing shown: {total - shown}"))
    legend = axes.legend(
        handles=handles, loc="upper left", frameon=False, fontsize=BASE, title="Heads specifically for", borderaxespad=0
    )
    legend.set_alignment("left")
    axes.text(
        0, 0, f"Stronger colour: larger share of the\ntask’s effects. q < {LEVEL} over all\nheads and functions.",
        transform=axes.transAxes, fontsize=SMALL, color="#555555", va="bottom",
    )  # fmt: skip


def initials(tasks: list[str]) -> dict[str, str]:
    """One or two letters per task, different for all."""
    letters: dict[str, str] = {}
    for task in tasks:
        words = [word for word in task.replace("-", " ").split() if word]
        candidates = [words[0][0].upper() if words else "?", *(word[:2].capitalize() for word in words)]
        candidates += [f"{words[0][0].upper() if words else '?'}{i}" for i in range(2, len(tasks) + 2)]
        letters[task] = next(letter for letter in candidates if letter not in letters.values())
    return letters


def shade(colour: str, depth: float) -> tuple[float, float, float]:
    """A colour mixed with white: 0 is white, 1 the colour itself."""
    red, green, blue = (1 - depth * (1 - part) for part in to_rgb(colour))
    return red, green, blue


def luminance(colour: tuple[float, float, float]) -> float:
    """How light a colour looks, from 0 to 1."""
    return 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]
