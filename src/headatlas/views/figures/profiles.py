"""How importance is spread over depth: one curve a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from headatlas.views.figures import parts, style
from headatlas.views.figures.scale import tick_step

if TYPE_CHECKING:
    from headatlas.atlas.reading import Atlas


def draw_profiles(atlas: Atlas, method: str) -> Figure:
    """One panel a task: the mean |importance| of the measured heads of every layer, every head as a dot, and the
    centre of mass. All panels share their scale; heads above it are drawn at its edge."""
    sizes = {task: np.abs(atlas.grid(task, method, seed=None)) for task in atlas.tasks_of(method)}
    means = {task: _mean_of_layers(size) for task, size in sizes.items()}
    highest = max(np.nanmax(mean, initial=0) for mean in means.values())
    top = 2.2 * highest or 1.0
    layers = atlas.shape[0]
    figure, panels = parts.panels(len(sizes), height=1.75)
    for place, (axes, (task, size)) in enumerate(zip(panels, sizes.items(), strict=True)):
        depth = np.repeat(np.arange(layers), size.shape[1])
        axes.scatter(depth, np.minimum(size.ravel(), top), s=3, color=style.LINE, linewidth=0, alpha=0.8, clip_on=False)
        known = np.isfinite(means[task])
        axes.fill_between(np.arange(layers)[known], means[task][known], color=style.BLUE, alpha=0.2, linewidth=0)
        axes.plot(np.arange(layers)[known], means[task][known], color=style.BLUE, linewidth=1.3)
        mass = np.nansum(size, axis=1)
        if mass.sum() > 0:
            centre = float(mass @ np.arange(layers) / mass.sum())
            axes.axvline(centre, color=style.VERMILION, linewidth=1.0, linestyle=(0, (4, 2)))
            note = f"centre of mass: layer {centre:.1f}"
        else:
            note = "no head differs from zero"
        parts.entitle(axes, task, note)
        axes.set_xlim(-0.5, layers - 0.5)
        axes.set_ylim(0, top)
        axes.set_xticks(range(0, layers, tick_step(layers)))
        axes.locator_params(axis="y", nbins=4)
        if place % 4:
            axes.tick_params(labelleft=False)
    parts.label(figure, "Layer", f"|Importance| by {method}")
    handles = [
        parts.key("mean of a layer", style.BLUE),
        parts.key("a head (at the edge where it lies above)", style.LINE, linestyle="none", marker="o", markersize=2.5),
        parts.key("centre of mass", style.VERMILION, linestyle=(0, (4, 2))),
    ]
    parts.legend(figure, handles, len(sizes))
    return figure


def _mean_of_layers(size: np.ndarray) -> np.ndarray:
    """NaN for a layer of which no head was measured."""
    measured = np.isfinite(size).sum(axis=1)
    return np.divide(np.nansum(size, axis=1), measured, out=np.full(len(size), np.nan), where=measured > 0)
