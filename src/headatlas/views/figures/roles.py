"""Figures of causal head gating: which role every head has in every task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from headatlas.errors import HeadAtlasError
from headatlas.methods.gate.roles import OPEN, ROLES, always, at_least_once
from headatlas.views.figures.scale import tick_step
from headatlas.views.figures.style import UNMEASURED, settings

if TYPE_CHECKING:
    from headatlas.atlas.reading import Atlas
    from headatlas.stats import Array

METHOD = "gate"
COLOURS = {"facilitation": "#1b8a3e", "irrelevance": "#6b6b6b", "interference": "#c8281e", "random": "#9db4c8"}
SHOWN = ("facilitation", "irrelevance", "interference")  # the order of panels


def stacks(atlas: Atlas, method: str = METHOD) -> dict[str, dict[str, Array]]:
    """For every task that was gated, each role as [seed, layer, head]."""
    scores = atlas.scores[(atlas.scores["method"] == method) & atlas.scores["measure"].isin(ROLES)]
    if scores.empty:
        raise HeadAtlasError(f"The atlas {atlas.path} has no gates. Map it with: headatlas map --method gate")
    found: dict[str, dict[str, Array]] = {}
    for (task, role), rows in scores.groupby(["task", "measure"], sort=False):
        seeds = {seed: place for place, seed in enumerate(sorted(rows["seed"].unique()))}
        stack = np.full((len(seeds), *atlas.shape), np.nan)
        stack[rows["seed"].map(seeds), rows["layer"], rows["head"]] = rows["value"]
        found.setdefault(task, {})[role] = stack
    return found


def roles(atlas: Atlas, method: str | None = None) -> Figure:
    """Rows: tasks. Columns: Always (minimum over seeds) and Any (maximum over seeds), in colour as the key explains."""
    return draw_roles(stacks(atlas, method or METHOD))


def draw_roles(tasks: Mapping[str, Mapping[str, Array]]) -> Figure:
    """The roles figure for stacks [seed, layer, head] of facilitation and interference."""
    with rc_context(settings()):
        joined = (("Always", always), ("Any", at_least_once))
        shape = next(iter(tasks.values()))["facilitation"].shape[1:]
        width, height = _panel_size(shape)
        rows = len(tasks)
        figure = Figure(figsize=(2 * (width + 0.6) + 2.3, rows * (height + 0.75)), layout="constrained")
        places = figure.add_gridspec(rows, 3, width_ratios=[width, width, 1.55])
        for row, (task, own) in enumerate(tasks.items()):
            seeds = len(own["facilitation"])
            for column, (name, join) in enumerate(joined):
                axes = figure.add_subplot(places[row, column])
                axes.imshow(
                    role_colours(join(own["facilitation"]), join(own["interference"])),
                    aspect="auto",
                    interpolation="nearest",
                )
                _label(axes, shape)
                axes.set_title(f"{task} ({name})", parse_math=False)
            note = f"{seeds} seeds" if seeds > 1 else "1 seed"
            axes.annotate(
                note, (1, 0), (0, -24), "axes fraction", "offset points", ha="right", fontsize=7.5, color="#555"
            )
        _key(figure, figure.add_subplot(places[0, 2]))
        return figure


def role_colours(facilitation: Array, interference: Array) -> Array:
    """RGB [layer, head, 3]: green as strong as facilitation, red as interference, so that both give yellow."""
    colours = np.stack([interference, facilitation, np.zeros_like(facilitation)], axis=-1)
    colours = np.clip(colours, 0, 1)
    colours[~np.isfinite(facilitation + interference)] = to_rgb(UNMEASURED)
    return colours


def _key(figure: Figure, axes: Axes) -> None:
    """All colours of the figure in one square."""
    across = np.tile(np.linspace(0, 1, 41), (41, 1))
    axes.imshow(role_colours(across, across.T), origin="lower", extent=(0, 1, 0, 1), interpolation="nearest")
    axes.set_box_aspect(1)
    axes.set_anchor("N")
    axes.set_xticks([0, 0.5, 1])
    axes.set_yticks([0, 0.5, 1])
    axes.tick_params(labelsize=7.5)
    axes.set_xlabel("Facilitation", color=COLOURS["facilitation"])
    axes.set_ylabel("Interference", color=COLOURS["interference"])
    axes.set_title("How to read the colours", fontsize=9)
    for x, y, text, colour, side in (
        (0.04, 0.05, "neither", "white", "left"),
        (0.96, 0.05, "facilitating", "black", "right"),
        (0.04, 0.92, "interfering", "white", "left"),
        (0.96, 0.92, "both", "black", "right"),
    ):
        axes.text(x, y, text, color=colour, fontsize=7.5, ha=side, va="center")
    explained = (
        "Brightness is strength.\n"
        "Always: the least over seeds,\nwhat every fit agrees on.\n"
        "Any: the most over seeds,\nwhat some fit uses; “both”\nis then in different seeds."
    )
    axes.annotate(explained, (0, 0), (0, -38), "axes fraction", "offset points", va="top", fontsize=7.5, color="#333")


def role_maps(atlas: Atlas, method: str | None = None) -> Figure:
    """Three maps a task: facilitation, irrelevance, interference, each the mean over seeds."""
    return draw_role_maps(stacks(atlas, method or METHOD))


def draw_role_maps(tasks: Mapping[str, Mapping[str, Array]]) -> Figure:
    """The three-panel maps for stacks [seed, layer, head] of the roles."""
    with rc_context(settings()):
        shape = next(iter(tasks.values()))["facilitation"].shape[1:]
        width, height = _panel_size(shape)
        figure = Figure(figsize=(3 * (width + 1.15), len(tasks) * (height + 0.9)), layout="constrained")
        panels = figure.subplots(len(tasks), 3, squeeze=False)
        images: dict[str, Any] = {}
        for row, (task, own) in zip(panels, tasks.items(), strict=True):
            for axes, role in zip(row, SHOWN, strict=True):
                shades = LinearSegmentedColormap.from_list(role, ["white", COLOURS[role]]).with_extremes(bad=UNMEASURED)
                images[role] = axes.imshow(
                    own[role].mean(axis=0), cmap=shades, vmin=0, vmax=1, aspect="auto", interpolation="nearest"
                )
                _label(axes, shape)
                axes.set_title(f"{task}\n{role}", parse_math=False)
        for column, role in enumerate(SHOWN):
            bar = figure.colorbar(images[role], ax=panels[:, column], fraction=0.05, aspect=30, pad=0.03)
            bar.outline.set_linewidth(0.6)
            bar.set_ticks([0, 0.5, 1])
        return figure


def role_distributions(atlas: Atlas, method: str | None = None) -> Figure:
    """How the roles are distributed over heads: mostly decided (near 0 or 1), or not."""
    return draw_role_distributions(stacks(atlas, method or METHOD))


def draw_role_distributions(tasks: Mapping[str, Mapping[str, Array]]) -> Figure:
    """One panel a task: the share of heads in each tenth of the scale, over all seeds."""
    with rc_context(settings()):
        columns = min(4, len(tasks))
        rows = -(-len(tasks) // columns)
        figure = Figure(figsize=(2.9 * columns + 0.3, 2.3 * rows + 0.5), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
        edges = np.linspace(0, 1, 11)
        for axes, (task, own) in zip(panels, tasks.items(), strict=False):
            for place, role in enumerate(SHOWN):
                values = own[role][np.isfinite(own[role])]
                shares = np.histogram(values, edges)[0] / max(1, values.size)
                axes.bar(edges[:-1] + 0.02 + 0.03 * place, shares, 0.027, color=COLOURS[role])
            axes.axvline(OPEN, color="#bbbbbb", linewidth=0.7, linestyle=(0, (4, 3)), zorder=0)
            axes.set_title(task, parse_math=False)
            axes.set_xlabel("Score of a head")
            axes.set_xlim(0, 1)
            plain(axes)
        for axes in panels[len(tasks) :]:
            axes.remove()
        panels[0].set_ylabel("Share of heads")
        role_legend(figure, SHOWN)
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


def plain(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)


def role_legend(figure: Figure, names: Sequence[str], labels: Mapping[str, str] | None = None) -> None:
    lines = [
        Line2D([], [], color=COLOURS[name], linewidth=1.6, label=(labels or {}).get(name, name).capitalize())
        for name in names
    ]
    figure.legend(handles=lines, loc="outside lower center", ncols=len(lines), frameon=False, fontsize=8.5)
