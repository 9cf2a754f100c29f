"""The maps themselves: one panel per task, one cell per head."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headatlas.views.colours import UNMEASURED
from headatlas.views.figures.panels import entitle, hatch
from headatlas.views.quantities import measure_of, task_notes
from headatlas.views.scale import map_scale, scale_ticks, tick_step
from headatlas.wording import decimal

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.stats import Array


def draw_importance(atlas: Atlas, method: str | None = None) -> Figure:
    """One panel per task, four in a row: the size of every head's value, layer 0 on top, one colour scale for all.

    Tasks that the intact model cannot do, or whose map failed its method's own check, are hatched; where they were not
    mapped there is nothing under the hatching.
    """
    method = atlas.choose_method(method)
    mapped = set(atlas.tasks_of(method))
    grids = {
        task: np.abs(atlas.grid(task, method)) if task in mapped else np.full(atlas.shape, np.nan)
        for task in atlas.verdicts
    }
    measure = measure_of(atlas, method, atlas.choose_measure(method))
    scale = map_scale(measure, np.concatenate([grid.ravel() for grid in grids.values()]))
    columns = min(4, len(grids))
    rows = math.ceil(len(grids) / columns)
    layers, heads = atlas.shape
    # Square cells where that gives readable panels; very narrow or wide ones are stretched.
    ratio = min(max(heads / layers, 0.55), 1.8)
    height = 2.5
    width = height * ratio + 0.55
    figure = Figure(figsize=(columns * width + 1.1, rows * (height + 0.65)), layout="constrained")
    layout = figure.add_gridspec(rows, columns)
    panels = [figure.add_subplot(layout[i // columns, i % columns]) for i in range(len(grids))]
    images = [_panel(panel, grid, scale.top) for panel, grid in zip(panels, grids.values(), strict=True)]
    notes = task_notes(atlas, method)
    for panel, task in zip(panels, grids, strict=True):
        entitle(panel, task, notes.get(task, ""), width)
    for panel, task in zip(panels, grids, strict=True):
        if why := atlas.why_not_read(task, method):
            hatch(panel, why)
    bar = figure.colorbar(images[-1], ax=panels, fraction=0.03 if columns > 1 else 0.06, aspect=30, pad=0.025)
    ticks = scale_ticks(scale.top)
    digits = next(digits for digits in range(1, 6) if digits == 5 or np.allclose(np.round(ticks, digits), ticks))
    labels = [decimal(tick, digits) for tick in ticks]
    bar.set_ticks(ticks, labels=[*labels[:-1], labels[-1] + "+" * scale.clipped])
    bar.set_label(f"{scale.label[:1].upper()}{scale.label[1:]} by {method}")
    bar.outline.set_linewidth(0.6)
    return figure


def _panel(axes: Axes, grid: Array, top: float) -> Any:
    colours = colormaps["viridis"].with_extremes(bad=UNMEASURED)
    image = axes.imshow(grid, cmap=colours, vmin=0, vmax=top, aspect="auto", interpolation="nearest")
    axes.set_xlabel("Head")
    axes.set_ylabel("Layer")
    layers, heads = grid.shape
    axes.set_xticks(range(0, heads, tick_step(heads)))
    axes.set_yticks(range(0, layers, tick_step(layers)))
    return image
