"""The atlas picture: every head in one grid, its hue what it is specifically for, its strength how much."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnchoredOffsetbox, DrawingArea, HPacker, TextArea, VPacker
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from headatlas.errors import HeadAtlasError
from headatlas.patterns.functions import (
    SHARE,
    function_counts,
    head_functions,
    specific_method,
    unmeasured_heads,
)
from headatlas.stats import LEVEL
from headatlas.views.colours import QUIET
from headatlas.views.figures.style import SMALL, wrapped
from headatlas.views.functions import Mark, depths, function_marks
from headatlas.views.quantities import measure_of
from headatlas.views.scale import tick_step

if TYPE_CHECKING:
    import pandas as pd

    from headatlas.atlas.atlas import Atlas

NOTHING = "#ececec"
COLUMN, PAGE = 3.3, 6.9  # inches: what a column and a page of a paper are wide
MOST_IN_COLUMN = 16  # heads; the picture of a wider model takes the page, with its key beside it
KEY = 2.3  # inches, of the key beside a picture
TALLEST = 8.0  # inches, of the grid
SMALLEST_LETTER = 4.0  # points; smaller ones could not be read


class Layout(NamedTuple):
    """The size of one cell in inches, and whether the key stands beside the grid or below it."""

    width: float
    height: float
    beside: bool


def draw_atlas(atlas: Atlas, method: str | None = None) -> Figure:
    """Grey heads are not shown to be for anything; a head with several functions is split between them."""
    name = specific_method(atlas, method)
    if name is None:
        raise HeadAtlasError(
            f"The atlas {atlas.path} does not say how specific heads are. Map it with the method ablate."
        )
    functions = head_functions(atlas, name)
    tasks = atlas.tasks_of(name)
    marks = function_marks(tasks)
    layout = _layout(*atlas.shape)
    axes, key, figure = _axes(*atlas.shape, layout, len(tasks))
    _grid(axes, *atlas.shape, layout)
    functions["depth"] = depths(functions["share"].to_numpy(dtype=float))
    for (layer, head), rows in functions.groupby(["layer", "head"]):
        _head(axes, layer, head, rows, marks, layout)
    missing = unmeasured_heads(atlas, name)
    for layer, head in missing:
        axes.add_patch(Rectangle((head - 0.5, layer - 0.5), 1, 1, facecolor="white", edgecolor="none"))
    inches = KEY if layout.beside else COLUMN - 0.6
    note = f"Colour: {measure_of(atlas, name, SHARE).label} by {name}. q < {LEVEL} over all heads and tasks."
    measured = atlas.shape[0] * atlas.shape[1] - len(missing)
    entries = _entries(functions, marks, measured, len(missing), inches)
    _key(key, entries, "\n".join(textwrap.wrap(note, int(inches * 72 / (0.5 * SMALL)))))
    return figure


def _layout(layers: int, heads: int) -> Layout:
    """Flat cells where there are few heads, so that the picture is not much higher than wide."""
    beside = heads > MOST_IN_COLUMN
    width = min(0.34, (PAGE - KEY - 0.7 if beside else COLUMN - 0.55) / heads)
    return Layout(width, min(width, max(0.15, 3.0 / layers), TALLEST / layers), beside)


def _axes(layers: int, heads: int, cell: Layout, functions: int) -> tuple[Axes, Axes, Figure]:
    """The axes of the grid and of its key."""
    high, lines = layers * cell.height, (functions + 5) * 0.175
    if cell.beside:
        figure = Figure(figsize=(PAGE, max(high, lines) + 0.6), layout="constrained")
        axes, key = figure.subplots(1, 2, width_ratios=[heads * cell.width, KEY])
    else:
        figure = Figure(figsize=(COLUMN, high + lines + 0.7), layout="constrained")
        axes, key = figure.subplots(2, 1, height_ratios=[high, lines])
    key.axis("off")
    return axes, key, figure


def _grid(axes: Axes, layers: int, heads: int, cell: Layout) -> None:
    axes.add_patch(Rectangle((-0.5, -0.5), heads, layers, facecolor=NOTHING, edgecolor="none"))
    axes.set_xlim(-0.5, heads - 0.5)
    axes.set_ylim(layers - 0.5, -0.5)
    axes.set_aspect(cell.height / cell.width, anchor="W" if cell.beside else "N")
    axes.set_xticks(np.arange(-0.5, heads), minor=True)
    axes.set_yticks(np.arange(-0.5, layers), minor=True)
    axes.grid(which="minor", color="white", linewidth=min(0.8, 8 * cell.height))
    axes.tick_params(which="minor", length=0)
    axes.set_xticks(range(0, heads, tick_step(heads)))
    axes.set_yticks(range(0, layers, tick_step(layers)))
    axes.set_xlabel("Head")
    axes.set_ylabel("Layer")
    for side in axes.spines.values():
        side.set_visible(False)


def _head(axes: Axes, layer: int, head: int, rows: pd.DataFrame, marks: dict[str, Mark], cell: Layout) -> None:
    """One cell, split from left to right between its functions, each with its letters where they can be read."""
    width = 1 / len(rows)
    for i, row in enumerate(rows.itertuples()):
        colour, mark = shade(marks[row.task].light, row.depth), marks[row.task]
        left = head - 0.5 + i * width
        axes.add_patch(Rectangle((left, layer - 0.5), width, 1, facecolor=colour, edgecolor="none"))
        fitting = 72 * min(cell.height * 0.75, cell.width * width / (0.2 + 0.7 * len(mark.letters)))
        if fitting >= SMALLEST_LETTER:
            axes.text(
                left + width / 2, layer, mark.letters, ha="center", va="center_baseline", fontsize=min(SMALL, fitting),
                color=_ink(colour),
            )  # fmt: skip


def _entries(
    functions: pd.DataFrame, marks: dict[str, Mark], measured: int, missing: int, inches: float
) -> list[tuple[str, str, str]]:
    """Colour, letters and text of every line of the key; names are cut where they do not fit on one."""
    counts = function_counts(functions, list(marks))
    entries = [
        (mark.light, mark.letters, f"{wrapped(task, inches - 0.8, SMALL, lines=1)}: {counts[task]}")
        for task, mark in marks.items()
    ]
    shown = len(functions.drop_duplicates(["layer", "head"]))
    entries.append((NOTHING, "", f"nothing shown: {measured - shown}"))
    return [*entries, ("white", "", f"not measured: {missing}")] if missing else entries


def _key(axes: Axes, entries: Sequence[tuple[str, str, str]], note: str) -> None:
    """Colours with their letters and what they mean, from the top down, and a remark below them."""
    rows: list[Artist] = [TextArea("Heads specifically for", textprops={"fontsize": SMALL})]
    for colour, letters, text in entries:
        chip = DrawingArea(16, 9)
        chip.add_artist(Rectangle((0, 0), 16, 9, facecolor=colour, edgecolor="none"))
        ink = _ink(shade(colour, 1))
        chip.add_artist(Text(8, 4.3, letters, ha="center", va="center_baseline", fontsize=SMALL, color=ink))
        label = TextArea(text, textprops={"fontsize": SMALL})
        rows.append(HPacker(children=[chip, label], align="center", pad=0, sep=5))
    rows.append(TextArea(note, textprops={"fontsize": SMALL, "color": QUIET}))
    packed = VPacker(children=rows, align="left", pad=0, sep=3.5)
    axes.add_artist(AnchoredOffsetbox("upper left", child=packed, frameon=False, pad=0, borderpad=0))


def _ink(colour: tuple[float, float, float]) -> str:
    return "white" if luminance(colour) < 0.45 else "#222222"


def shade(colour: str, depth: float) -> tuple[float, float, float]:
    """A colour mixed with white: 0 is white, 1 the colour itself."""
    red, green, blue = (1 - depth * (1 - part) for part in to_rgb(colour))
    return red, green, blue


def luminance(colour: tuple[float, float, float]) -> float:
    """How light a colour looks, from 0 to 1."""
    return 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]
