"""Maps as coloured blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.columns import Columns
from rich.console import Console, Group
from rich.text import Text

from headatlas.views.colours import UNMEASURED, VIRIDIS
from headatlas.views.quantities import measure_of
from headatlas.views.scale import map_scale
from headatlas.wording import decimal

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.stats import Array

LEGEND_BLOCKS = 20
ANCHORS = np.array([[int(code[i : i + 2], 16) for i in (1, 3, 5)] for code in VIRIDIS])


def print_maps(console: Console, atlas: Atlas, tasks: list[str], method: str | None) -> None:
    """All maps on one scale; nothing in a terminal without colour, where blocks would say nothing."""
    if not console.is_terminal or console.color_system is None:
        return
    method = atlas.choose_method(method)
    measure = measure_of(atlas, method, atlas.choose_measure(method))
    grids = {task: np.abs(atlas.grid(task, method)) for task in tasks}
    scale = map_scale(measure, np.concatenate([grid.ravel() for grid in grids.values()]))
    console.print(Columns([heatmap(task, grid, scale.top) for task, grid in grids.items()], padding=(0, 2)))
    legend = Text(f"{decimal(0, 4)} ")
    for i in range(LEGEND_BLOCKS):
        legend.append("█", style=_colour(i / (LEGEND_BLOCKS - 1) * scale.top, scale.top))
    console.print(legend.append(f" {decimal(scale.top, 4)}{'+' * scale.clipped}   {scale.label} by {method}"))


def heatmap(title: str, grid: Array, top: float) -> Group:
    """A [layer, head] map: two layers per line (half blocks), two characters per head, layer 0 on top."""
    lines = [Text(title, style="bold")]
    for layer in range(0, len(grid), 2):
        line = Text(f"{layer:3d} ", style="dim")
        for head in range(grid.shape[1]):
            upper = _colour(grid[layer, head], top)
            lower = _colour(grid[layer + 1, head], top) if layer + 1 < len(grid) else "default"
            line.append("▀▀", style=f"{upper} on {lower}")
        lines.append(line)
    return Group(*lines, Text(""))


def _colour(value: float, top: float) -> str:
    """The colour between the two nearest anchors."""
    if np.isnan(value):
        return UNMEASURED
    position = min(max(value / top, 0.0), 1.0) * (len(ANCHORS) - 1)
    below = min(int(position), len(ANCHORS) - 2)
    mixed = ANCHORS[below] + (position - below) * (ANCHORS[below + 1] - ANCHORS[below])
    return "#{:02x}{:02x}{:02x}".format(*mixed.astype(int).tolist())
