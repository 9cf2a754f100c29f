"""Figures of causal head gating: which role every head has in every task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from headatlas.methods.gate.roles import OPEN, ROLES, always, at_least_once
from headatlas.views.colours import LINE, QUIET, ROLE_LIGHTS, SKY, UNMEASURED
from headatlas.views.colours import ROLES as ROLE_COLOURS
from headatlas.views.figures.panels import hatch
from headatlas.views.figures.style import BASE, SMALL, wrapped
from headatlas.views.scale import tick_step
from headatlas.wording import count

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.stats import Array

Roles = Mapping[str, "Array"]  # each role as [seed, layer, head]

COLOURS = {**ROLE_COLOURS, "random": SKY}  # the usual grey of random heads is that of irrelevance here
PANELS = ("facilitation", "irrelevance", "interference")  # the order of panels
BINS = np.linspace(0, 1, 11)


def role_stacks(atlas: Atlas, method: str) -> dict[str, dict[str, Array]]:
    """For every task that was gated, each role as [seed, layer, head]."""
    scores = atlas.scores[(atlas.scores["method"] == method) & atlas.scores["measure"].isin(ROLES)]
    stacks: dict[str, dict[str, Array]] = {}
    for (task, role), rows in scores.groupby(["task", "measure"], sort=False):
        seeds = {seed: i for i, seed in enumerate(sorted(rows["seed"].unique()))}
        stack = np.full((len(seeds), *atlas.shape), np.nan)
        stack[rows["seed"].map(seeds), rows["layer"], rows["head"]] = rows["value"]
        stacks.setdefault(task, {})[role] = stack
    return stacks


def draw_roles(atlas: Atlas, method: str) -> Figure:
    """Rows: tasks. Columns: Always (minimum over seeds) and Any (maximum over seeds), in colour as the key explains.

    Tasks whose masks do not hold when binarised are hatched.
    """
    tasks = role_stacks(atlas, method)
    width, height = _panel_size(atlas.shape)
    figure = Figure(figsize=(2 * (width + 0.6) + 2.3, len(tasks) * (height + 0.75)), layout="constrained")
    grid = figure.add_gridspec(len(tasks), 3, width_ratios=[width, width, 1.55])
    for row, (task, roles) in enumerate(tasks.items()):
        for column, (name, join) in enumerate((("Always", always), ("Any", at_least_once))):
            axes = figure.add_subplot(grid[row, column])
            colours = role_colours(join(roles["facilitation"]), join(roles["interference"]))
            axes.imshow(colours, aspect="auto", interpolation="nearest")
            _label(axes, atlas.shape)
            axes.set_title(f"{wrapped(task, width - 0.4, lines=1)} ({name})")
            if why := atlas.why_not_read(task, method):
                hatch(axes, why)
        note = count(len(roles["facilitation"]), "seed")
        axes.annotate(note, (1, 0), (0, -24), "axes fraction", "offset points", ha="right", fontsize=SMALL, color=QUIET)
    _key(figure.add_subplot(grid[0, 2]))
    return figure


def role_colours(facilitation: Array, interference: Array) -> Array:
    """RGB [layer, head, 3]: green as strong as facilitation, red as interference, so that both give yellow."""
    lights = [np.array(to_rgb(ROLE_LIGHTS[role])) for role in ("facilitation", "interference")]
    colours = np.clip(facilitation[..., None] * lights[0] + interference[..., None] * lights[1], 0, 1)
    colours[~np.isfinite(facilitation + interference)] = to_rgb(UNMEASURED)
    return colours


def _key(axes: Axes) -> None:
    """All colours of the figure in one square."""
    across = np.tile(np.linspace(0, 1, 41), (41, 1))
    axes.imshow(role_colours(across, across.T), origin="lower", extent=(0, 1, 0, 1), interpolation="nearest")
    axes.set_box_aspect(1)
    axes.set_anchor("N")
    axes.set_xticks([0, 0.5, 1])
    axes.set_yticks([0, 0.5, 1])
    axes.tick_params(labelsize=SMALL)
    axes.set_xlabel("Facilitation", color=COLOURS["facilitation"])
    axes.set_ylabel("Interference", color=COLOURS["interference"])
    axes.set_title("How to read the colours", fontsize=BASE)
    for x, y, text, colour, side in (
        (0.04, 0.05, "neither", "white", "left"),
        (0.96, 0.05, "facilitating", "black", "right"),
        (0.04, 0.92, "interfering", "white", "left"),
        (0.96, 0.92, "both", "black", "right"),
    ):
        axes.text(x, y, text, color=colour, fontsize=SMALL, ha=side, va="center")
    explained = (
        "Brightness is strength.\n"
        "Always: the least over seeds,\nwhat every fit agrees on.\n"
        "Any: the most over seeds,\nwhat some fit uses; “both”\nis then in different seeds."
    )
    axes.annotate(explained, (0, 0), (0, -38), "axes fraction", "offset points", va="top", fontsize=SMALL, color=QUIET)


def draw_role_maps(atlas: Atlas, method: str) -> Figure:
    """Three maps per task: facilitation, irrelevance, interference, each the mean over seeds."""
    tasks = role_stacks(atlas, method)
    width, height = _panel_size(atlas.shape)
    figure = Figure(figsize=(3 * (width + 1.15), len(tasks) * (height + 0.9)), layout="constrained")
    panels = figure.subplots(len(tasks), 3, squeeze=False)
    images: dict[str, Any] = {}
    for row, (task, roles) in zip(panels, tasks.items(), strict=True):
        for axes, role in zip(row, PANELS, strict=True):
            shades = LinearSegmentedColormap.from_list(role, ["white", COLOURS[role]]).with_extremes(bad=UNMEASURED)
            images[role] = axes.imshow(
                roles[role].mean(axis=0), cmap=shades, vmin=0, vmax=1, aspect="auto", interpolation="nearest"
            )
            _label(axes, atlas.shape)
            axes.set_title(f"{wrapped(task, width)}\n{role}")
            if why := atlas.why_not_read(task, method):
                hatch(axes, why)
    for column, role in enumerate(PANELS):
        bar = figure.colorbar(images[role], ax=panels[:, column], fraction=0.05, aspect=30, pad=0.03)
        bar.outline.set_linewidth(0.6)
        bar.set_ticks([0, 0.5, 1])
    return figure


def draw_role_distributions(atlas: Atlas, method: str) -> Figure:
    """One panel per task: the share of heads in each tenth of the scale, over all seeds; mostly decided, or not."""
    tasks = role_stacks(atlas, method)
    columns = min(4, len(tasks))
    rows = -(-len(tasks) // columns)
    figure = Figure(figsize=(2.9 * columns + 0.3, 2.3 * rows + 0.5), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    for axes, (task, roles) in zip(panels, tasks.items(), strict=False):
        for i, role in enumerate(PANELS):
            values = roles[role][np.isfinite(roles[role])]
            shares = np.histogram(values, BINS)[0] / max(1, values.size)
            axes.bar(BINS[:-1] + 0.02 + 0.03 * i, shares, 0.027, color=COLOURS[role])
        axes.axvline(OPEN, color=LINE, linewidth=0.7, linestyle=(0, (4, 3)), zorder=0)
        axes.set_title(wrapped(task, 2.6))
        axes.set_xlabel("Score of a head")
        axes.set_xlim(0, 1)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels[len(tasks) :]:
        axes.remove()
    panels[0].set_ylabel("Share of heads")
    role_legend(figure, PANELS)
    return figure


def _panel_size(shape: Sequence[int]) -> tuple[float, float]:
    """Square cells where that gives readable panels; very narrow or wide ones are stretched."""
    layers, heads = shape
    return 2.6 * min(max(heads / layers, 0.95), 1.8), 2.6


def _label(axes: Axes, shape: Sequence[int]) -> None:
    layers, heads = shape
    axes.set_xticks(range(0, heads, tick_step(heads)))
    axes.set_yticks(range(0, layers, tick_step(layers)))
    axes.set_xlabel("Head")
    axes.set_ylabel("Layer")


def role_legend(figure: Figure, names: Sequence[str], labels: Mapping[str, str] | None = None) -> None:
    lines = [
        Line2D([], [], color=COLOURS[name], linewidth=1.6, label=(labels or {}).get(name, name).capitalize())
        for name in names
    ]
    figure.legend(handles=lines, loc="outside lower center", ncols=len(lines), frameon=False, fontsize=8.5)
