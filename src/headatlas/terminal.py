"""Maps and tables for a colour terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.columns import Columns
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from headatlas.figures import scale_top

if TYPE_CHECKING:
    from headatlas.atlas import Atlas
    from headatlas.stats import Array

# Anchors of viridis, dark to bright; colours between them are mixed.
VIRIDIS = np.array(
    [(68, 1, 84), (72, 40, 120), (62, 74, 137), (49, 104, 142), (38, 130, 142),
     (31, 158, 137), (53, 183, 121), (109, 205, 89), (180, 222, 44), (253, 231, 37)]
)  # fmt: skip
UNMEASURED = np.array((90, 90, 90))


def plain_console() -> Console:
    """Standard output without markup: task names may hold brackets, and mean them."""
    return Console(highlight=False, markup=False)


def _colour(value: float, top: float) -> str:
    if np.isnan(value):
        rgb = UNMEASURED
    else:
        place = min(max(value / top, 0.0), 1.0) * (len(VIRIDIS) - 1)
        low = min(int(place), len(VIRIDIS) - 2)
        rgb = (VIRIDIS[low] + (place - low) * (VIRIDIS[low + 1] - VIRIDIS[low])).astype(int)
    return "#{:02x}{:02x}{:02x}".format(*rgb.tolist())


def heatmap(title: str, grid: Array, top: float) -> Group:
    """A [layer, head] map: two layers a line (half blocks), two columns a head, layer 0 on top."""
    lines = [Text(title, style="bold")]
    for layer in range(0, len(grid), 2):
        line = Text(f"{layer:3d} ", style="dim")
        for head in range(grid.shape[1]):
            upper = _colour(grid[layer, head], top)
            lower = _colour(grid[layer + 1, head], top) if layer + 1 < len(grid) else "default"
            line.append("▀▀", style=f"{upper} on {lower}")
        lines.append(line)
    return Group(*lines, Text(""))


def print_maps(console: Console, atlas: Atlas, tasks: list[str], method: str | None) -> None:
    """All maps on one scale; nothing in a terminal without colour, where blocks would say nothing."""
    if not console.is_terminal or console.color_system is None:
        return
    grids = {task: np.abs(atlas.grid(task, method)) for task in tasks}
    top, clipped = scale_top(np.concatenate([grid.ravel() for grid in grids.values()]))
    console.print(Columns([heatmap(task, grid, top) for task, grid in grids.items()], padding=(0, 2)))
    legend = Text("0.0000 ")
    for i in range(20):
        legend.append("█", style=_colour(i / 19 * top, top))
    console.print(legend.append(f" {top:.4f}{'+' * clipped}   |importance| by {atlas.choose_method(method)}"))


def competence_table(atlas: Atlas) -> Table:
    table = Table("task", title="What the intact model can do", title_justify="left", box=None, pad_edge=False)
    for name in ("items", "accuracy", "95 % interval", "chance", "log-prob", "verdict"):
        table.add_column(name, justify="left" if name == "verdict" else "right")
    for row in atlas.competence.itertuples():
        table.add_row(
            row.task,
            str(row.items),
            f"{row.accuracy:.2f}",
            f"{row.low:.2f} to {row.high:.2f}",
            f"{row.chance:.2f}",
            f"{row.logprob:.2f}",
            Text(row.verdict, style="green" if row.verdict == "competent" else "yellow"),
        )
    return table


def top_table(atlas: Atlas, task: str, k: int, method: str | None) -> Table:
    """The strongest heads of a task, with interval and q."""
    chosen = atlas.choose_method(method)
    title = f"{atlas.choose_task(task)}: strongest heads by {chosen}"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in ("rank", "head", "importance", "95 % interval", "q"):
        table.add_column(name, justify="right")
    for rank, row in enumerate(atlas.table(task, chosen).head(k).itertuples(), start=1):
        sure = "" if row.q_value < 0.05 else "  not distinguishable from zero"
        table.add_row(
            str(rank),
            f"L{row.layer}H{row.head}",
            f"{row.value:+.4f}",
            f"{row.low:+.4f} to {row.high:+.4f}",
            f"{row.q_value:.2g}{sure}",
        )
    return table
