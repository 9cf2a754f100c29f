"""How a map is spread over depth: one curve per task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from headatlas.patterns.layer_profile import centre_of_mass, layer_means, layer_shares
from headatlas.patterns.maps import read_maps
from headatlas.views.colours import BLUE, LINE, VERMILION
from headatlas.views.figures import panels
from headatlas.views.quantities import measure_of
from headatlas.views.scale import tick_step
from headatlas.wording import decimal

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

HEADROOM = 2.2  # of the scale above the highest mean of a layer


def draw_profiles(atlas: Atlas, method: str) -> Figure:
    """One panel per task: the mean size of the measured heads of every layer, every head as a dot, and the centre of
    mass. All panels share their scale; heads above it are drawn at its edge."""
    measure = measure_of(atlas, method, atlas.info(method).primary)
    maps = read_maps(atlas, method, measure.name)
    means = [layer_means(task_map, task_map.size) for task_map in maps]
    top = HEADROOM * max(np.nanmax(mean, initial=0) for mean in means) or 1.0
    layers = np.arange(atlas.shape[0])
    figure, all_axes = panels.panels(len(maps), height=1.75)
    for i, (axes, task_map, mean) in enumerate(zip(all_axes, maps, means, strict=True)):
        axes.scatter(
            task_map.layer, np.minimum(task_map.size, top), s=3, color=LINE, linewidth=0, alpha=0.8, clip_on=False
        )
        known = np.isfinite(mean)
        axes.fill_between(layers[known], mean[known], color=BLUE, alpha=0.2, linewidth=0)
        axes.plot(layers[known], mean[known], color=BLUE, linewidth=1.3)
        note = "no head differs from zero"
        if task_map.size.sum() > 0:
            centre = float(centre_of_mass(layer_shares(task_map, task_map.size)))
            axes.axvline(centre, color=VERMILION, linewidth=1.0, linestyle=(0, (4, 2)))
            note = f"centre of mass: layer {decimal(centre, 1)}"
        panels.entitle(axes, task_map.task, note)
        axes.set_xlim(-0.5, len(layers) - 0.5)
        axes.set_ylim(0, top)
        axes.set_xticks(range(0, len(layers), tick_step(len(layers))))
        axes.locator_params(axis="y", nbins=4)
        if i % 4:
            axes.tick_params(labelleft=False)
    panels.label(figure, "Layer", f"Size of {measure.label} by {method}")
    handles = [
        panels.key("mean of a layer", BLUE),
        panels.key("a head (at the edge where it lies above)", LINE, linestyle="none", marker="o", markersize=2.5),
        panels.key("centre of mass", VERMILION, linestyle=(0, (4, 2))),
    ]
    panels.legend(figure, handles, len(maps))
    return figure
