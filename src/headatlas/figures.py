"""Figures of an atlas, for papers: they draw what was measured and compute nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from headatlas.competence import COMPETENT
from headatlas.errors import UsageError, unknown
from headatlas.files import atomic

if TYPE_CHECKING:
    from headatlas.atlas import Atlas
    from headatlas.stats import Array

FORMATS = ("png", "svg", "pdf")
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "svg.hashsalt": "headatlas",  # the same picture gives the same bytes
    "svg.fonttype": "none",
}
UNMEASURED = "#d9d9d9"


def draw(atlas: Atlas, figure: str, method: str | None = None, path: str | Path | None = None) -> Figure:
    """Draw a figure by name, and save it where a path is given."""
    if figure not in FIGURES:
        raise unknown("figure", figure, FIGURES)
    with rc_context(STYLE):
        made = FIGURES[figure](atlas, method)
        if path is not None:
            _save(made, Path(path))
    return made


def write_figures(atlas: Atlas) -> list[Path]:
    """All figures of an atlas as PNG and SVG, in its `figures` folder."""
    paths = [atlas.path / "figures" / f"{name}.{kind}" for name in FIGURES for kind in ("png", "svg")]
    for path in paths:
        draw(atlas, path.stem, path=path)
    return paths


def _save(figure: Figure, path: Path) -> None:
    kind = path.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise UsageError(f"Cannot write {path}: figures are written as {', '.join('.' + name for name in FORMATS)}.")
    dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    with atomic(path) as temporary:
        figure.savefig(temporary, format=kind, dpi=200, bbox_inches="tight", metadata=dated)


def importance(atlas: Atlas, method: str | None = None) -> Figure:
    """One panel a task, four in a row: |importance| of every head, layer 0 on top, one colour scale for all.

    Tasks that the intact model cannot do are hatched; where they were not mapped there is nothing under the hatching.
    """
    method = atlas.choose_method(method)
    mapped = set(atlas.tasks)
    grids = {
        task: np.abs(atlas.grid(task, method)) if task in mapped else np.full(atlas.shape, np.nan)
        for task in atlas.verdicts
    }
    top, clipped = scale_top(np.concatenate([grid.ravel() for grid in grids.values()]))
    columns = min(4, len(grids))
    rows = math.ceil(len(grids) / columns)
    layers, heads = atlas.shape
    # Square cells where that gives readable panels; very narrow or wide ones are stretched.
    ratio = min(max(heads / layers, 0.55), 1.8)
    height = 2.5
    figure = Figure(figsize=(columns * (height * ratio + 0.55) + 1.1, rows * (height + 0.65)), layout="constrained")
    places = figure.add_gridspec(rows, columns)
    panels = [figure.add_subplot(places[i // columns, i % columns]) for i in range(len(grids))]
    images = [_panel(panel, task, grid, top) for panel, (task, grid) in zip(panels, grids.items(), strict=True)]
    for panel, verdict in zip(panels, atlas.verdicts.values(), strict=True):
        if verdict != COMPETENT:
            _hatch(panel, verdict)
    bar = figure.colorbar(images[-1], ax=panels, fraction=0.03, aspect=30, pad=0.015)
    ticks = scale_ticks(top)
    bar.set_ticks(ticks, labels=[f"{tick:.4f}" for tick in ticks[:-1]] + [f"{top:.4f}" + "+" * clipped])
    bar.ax.set_title("Heads Importance", fontsize=9, pad=8, loc="left")  # to the right, clear of the panels
    bar.outline.set_linewidth(0.6)
    return figure


def _panel(axes: Axes, title: str, grid: Array, top: float) -> Any:
    colours = colormaps["viridis"].with_extremes(bad=UNMEASURED)
    image = axes.imshow(grid, cmap=colours, vmin=0, vmax=top, aspect="auto", interpolation="nearest")
    axes.set_title(title, parse_math=False)  # task names may hold dollar signs
    axes.set_xlabel("Head")
    axes.set_ylabel("Layer")
    layers, heads = grid.shape
    axes.set_xticks(range(0, heads, tick_step(heads)))
    axes.set_yticks(range(0, layers, tick_step(layers)))
    return image


def _hatch(axes: Axes, verdict: str) -> None:
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    axes.add_patch(
        Rectangle(
            (left, bottom), right - left, top - bottom, fill=False, hatch="///", edgecolor="#ffffffb0", linewidth=0
        )
    )
    note = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": "none", "alpha": 0.9}
    axes.text(0.5, 0.5, verdict, transform=axes.transAxes, ha="center", va="center", fontsize=8, bbox=note)


def tick_step(count: int) -> int:
    """Every 6, as in the literature; 3 or 2 for few rows, multiples of 6 for many, so that labels never touch."""
    if count <= 6:
        return 1
    if count <= 10:
        return 2 if count < 8 else 3
    return 6 if count <= 48 else 6 * math.ceil(count / 48)


def scale_top(values: Array) -> tuple[float, bool]:
    """The top of the colour scale, a round number just above the 99th percentile, and whether anything lies above."""
    finite = values[np.isfinite(values)]
    high = float(np.quantile(finite, 0.99)) if finite.size else 0.0
    if high <= 0:
        high = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
    power = 10.0 ** math.floor(math.log10(high))
    steps = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
    # Four decimals are printed: a smaller top than 0.0005 could not be read off the bar.
    top = max(next(step * power for step in steps if step * power >= high * (1 - 1e-9)), 0.0005)
    return top, bool(finite.size and finite.max() > top)


def scale_ticks(top: float) -> list[float]:
    """From 0 to the top in 3 to 6 round steps."""
    leading = round(top / 10.0 ** math.floor(math.log10(top)), 1)
    parts = {1.5: 3, 3: 3, 6: 3, 2: 4, 4: 4, 8: 4}.get(leading, 5)
    return [top * i / parts for i in range(parts + 1)]


FIGURES: dict[str, Callable[[Atlas, str | None], Figure]] = {"importance": importance}
