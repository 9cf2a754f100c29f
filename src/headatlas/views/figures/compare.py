"""Two maps side by side: every task as two grids and a scatter, or as two profiles over depth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.patches import Rectangle

from headatlas.patterns.compare.sides import same_unit
from headatlas.views.colours import BLUE, LINE, QUIET, UNMEASURED, VERMILION, VIRIDIS
from headatlas.views.figures import panels
from headatlas.views.figures.style import SMALL, TITLE, wrapped
from headatlas.views.quantities import measure_of
from headatlas.views.scale import scale_top, tick_step
from headatlas.wording import decimal, head_name, interval, signed, significant

if TYPE_CHECKING:
    from headatlas.patterns.compare import ComparedTask, Comparison, Side
    from headatlas.stats import Array

WIDTHS = (1.0, 1.0, 1.5)  # of both maps and the scatter, relative
WIDTH, HEIGHT = 5.0, 2.6  # of a task, inches
NAMED = 3  # heads of a scatter that are named
BRIGHTEST = VIRIDIS[-1]
SHARED = "#ffffff"  # the outline of a head that is among the first of both


def draw_comparison(comparison: Comparison) -> Figure:
    """By heads: for each task both maps on a scale of their own, and every head's values against each other. By depth:
    both profiles of each task over relative depth."""
    return _draw_heads(comparison) if comparison.by == "heads" else _draw_depth(comparison)


def _draw_heads(comparison: Comparison) -> Figure:
    columns = 1 if len(comparison.tasks) < 4 else 2
    rows = math.ceil(len(comparison.tasks) / columns)
    figure = Figure(figsize=(columns * WIDTH, rows * HEIGHT + 0.6), layout="constrained")
    grid = figure.add_gridspec(rows, columns)
    tops = [_top(comparison, side) for side in (0, 1)]
    if all(same_unit(comparison.first, comparison.second, task.task) for task in comparison.tasks):
        tops = [max(tops)] * 2
    for i, task in enumerate(comparison.tasks):
        _task(figure, grid[i // columns, i % columns], comparison, task, tops)
    keys = [*_keys(comparison), *_scale_keys(comparison, tops)]
    figure.legend(handles=keys, loc="outside lower left", ncols=columns, fontsize=SMALL)
    return figure


def _task(figure: Figure, place: SubplotSpec, comparison: Comparison, task: ComparedTask, tops: list[float]) -> None:
    parts = figure.add_subfigure(place)
    parts.suptitle(wrapped(task.task, WIDTH, TITLE, lines=1), fontsize=TITLE)
    parts.supxlabel(_sentence(task), fontsize=SMALL, color=QUIET)
    axes = parts.subplots(1, 3, width_ratios=WIDTHS)
    for i, side in enumerate((comparison.first, comparison.second)):
        _map(axes[i], side, task, tops[i], comparison.labels[i])
    axes[1].set_ylabel("")
    axes[1].tick_params(labelleft=False)
    _scatter(axes[2], comparison, task)


def _sentence(task: ComparedTask) -> str:
    """The correlation, and the heads in common."""
    rho = f"ρ {signed(task.correlation.value)}"
    if math.isfinite(task.correlation.low):
        rho += f" ({interval(task.correlation.low, task.correlation.high, sign=True)})"
    differ = f"; {len(task.differing)} differ" if task.tested else ""
    return f"{rho}; {len(task.shared)} of first {task.k} shared, {decimal(task.by_chance, 1)} by chance{differ}"


def _map(axes: Axes, side: Side, task: ComparedTask, top: float, label: str) -> None:
    grid = np.full(side.atlas.shape, np.nan)
    task_map = side.maps[task.task]
    grid[task_map.layer, task_map.head] = task_map.size
    colours = colormaps["viridis"].with_extremes(bad=UNMEASURED)
    axes.imshow(grid, cmap=colours, vmin=0, vmax=top, aspect="auto", interpolation="nearest")
    for layer, head in task.shared:
        axes.add_patch(Rectangle((head - 0.5, layer - 0.5), 1, 1, fill=False, edgecolor=SHARED, linewidth=0.9))
    if len(task.differing):
        axes.scatter(task.differing["head"], task.differing["layer"], s=7, color=VERMILION, linewidth=0)
    axes.set_title(wrapped(label, 1.3, SMALL), fontsize=SMALL, pad=3)
    axes.set_xlabel("Head", fontsize=SMALL, labelpad=1)
    axes.set_ylabel("Layer", fontsize=SMALL, labelpad=1)
    layers, heads = side.atlas.shape
    axes.set_xticks(range(0, heads, tick_step(heads)))
    axes.set_yticks(range(0, layers, tick_step(layers)))
    axes.tick_params(labelsize=SMALL, pad=1.5)


def _scatter(axes: Axes, comparison: Comparison, task: ComparedTask) -> None:
    assert task.heads is not None
    x, y = task.heads["first"].to_numpy(), task.heads["second"].to_numpy()
    axes.spines[["top", "right"]].set_visible(False)
    for line in (axes.axhline, axes.axvline):
        line(0, color=UNMEASURED, linewidth=0.6, zorder=0)
    if same_unit(comparison.first, comparison.second, task.task):
        axes.axline((0, 0), slope=1, color=LINE, linewidth=0.7, linestyle=(0, (4, 3)), zorder=0)
        _same_limits(axes, task)
    axes.scatter(x, y, s=5, color=LINE, linewidth=0)
    shared = task.heads.set_index(["layer", "head"]).loc[list(task.shared)]
    axes.scatter(shared["first"], shared["second"], s=13, facecolor="none", edgecolor=BLUE, linewidth=0.9)
    if len(task.differing):
        axes.scatter(task.differing["first"], task.differing["second"], s=7, color=VERMILION, linewidth=0)
        _intervals(axes, task)
    labels = [wrapped(label, 1.5, SMALL) for label in comparison.labels]
    axes.set_xlabel(labels[0], fontsize=SMALL, labelpad=1)
    axes.set_ylabel(labels[1], fontsize=SMALL, labelpad=1)
    axes.locator_params(nbins=4)
    axes.tick_params(labelsize=SMALL, pad=1.5)


def _same_limits(axes: Axes, task: ComparedTask) -> None:
    """One range for both axes, with room for the intervals: what lies on the line has not changed."""
    assert task.heads is not None
    bounds = task.differing["first"].to_numpy()[:, None] - task.differing[["low", "high"]].to_numpy()
    values = np.concatenate([task.heads[["first", "second"]].to_numpy().ravel(), bounds.ravel(), [0.0]])
    values = values[np.isfinite(values)]
    room = 0.05 * max(float(np.ptp(values)), 1e-12)
    axes.set_xlim(values.min() - room, values.max() + room)
    axes.set_ylim(values.min() - room, values.max() + room)


def _intervals(axes: Axes, task: ComparedTask) -> None:
    """The interval of the difference of heads that differ, as a bar around the second value; the largest by name."""
    first = task.differing["first"]
    axes.vlines(first, first - task.differing["high"], first - task.differing["low"], color=VERMILION, linewidth=0.7)
    order = task.differing["difference"].abs().sort_values(ascending=False).index
    for row in task.differing.loc[order[:NAMED]].itertuples():
        right = row.first > 0.5 * sum(axes.get_xlim())  # the name goes towards the middle, where there is room
        axes.annotate(
            head_name(row.layer, row.head), (row.first, row.second), xytext=(-3 if right else 3, 3),
            textcoords="offset points", ha="right" if right else "left", fontsize=SMALL, color=VERMILION,
        )  # fmt: skip


def _keys(comparison: Comparison) -> list[Artist]:
    ring = {"linestyle": "none", "marker": "o", "markerfacecolor": "none", "markersize": 4}
    keys: list[Artist] = [panels.key(f"among the first {comparison.k} of both (white on the maps)", BLUE, **ring)]
    if any(task.tested for task in comparison.tasks):
        keys.append(
            panels.key(
                "differs beyond noise, with the 95 % interval of the change",
                VERMILION,
                linestyle="none",
                marker="o",
                markersize=3,
            )
        )
    return keys


def _scale_keys(comparison: Comparison, tops: list[float]) -> list[Artist]:
    """What the brightest colour of the maps stands for: once where both sides share their scale."""
    sides = comparison.first, comparison.second
    texts = [
        f"size of {measure_of(side.atlas, side.method, side.measure).label}: {significant(top)} or more"
        for side, top in zip(sides, tops, strict=True)
    ]
    if texts[0] != texts[1]:
        texts = [f"{label}: {text}" for label, text in zip(comparison.labels, texts, strict=True)]
    return [panels.key(text, BRIGHTEST, linestyle="none", marker="s", markersize=5) for text in dict.fromkeys(texts)]


def _top(comparison: Comparison, side: int) -> float:
    """The top of the colours of a side, common to all tasks."""
    chosen = (comparison.first, comparison.second)[side]
    sizes: Array = np.concatenate([chosen.maps[task.task].size for task in comparison.tasks])
    return scale_top(sizes)[0]


def _draw_depth(comparison: Comparison) -> Figure:
    figure, all_axes = panels.panels(len(comparison.tasks))
    for axes, task in zip(all_axes, comparison.tasks, strict=True):
        assert task.profiles is not None
        assert task.centres is not None
        parts = (np.arange(task.units) + 0.5) / task.units
        for profile, centre, colour in zip(task.profiles, task.centres[:2], (BLUE, VERMILION), strict=True):
            axes.plot(parts, 100 * profile, color=colour, linewidth=1.3)
            axes.axvline(centre.value, color=colour, linewidth=0.9, linestyle=(0, (4, 2)))
        known = math.isfinite(task.correlation.low)
        reach = f" ({interval(task.correlation.low, task.correlation.high, sign=True)})" if known else ""
        panels.entitle(axes, task.task, f"ρ {signed(task.correlation.value)}{reach}")
        axes.set_xlim(0, 1)
        axes.set_ylim(bottom=0)
    panels.label(figure, "Depth, from the first layer to the last", "Share of the mass (%)")
    first, second = comparison.labels
    handles = [panels.key(first, BLUE), panels.key(second, VERMILION),
               panels.key("centre of mass", LINE, linestyle=(0, (4, 2)))]  # fmt: skip
    panels.legend(figure, handles, len(comparison.tasks))
    return figure
