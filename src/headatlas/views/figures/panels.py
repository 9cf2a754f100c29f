"""Parts that figures with one panel per task share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FixedLocator, NullLocator

from headatlas.views.colours import LINE, QUIET, RANDOM
from headatlas.views.figures.style import BASE, SMALL, wrapped
from headatlas.views.rows import Outcome, by_task

EDGE = 1.25  # times the most heads, and the least over it: the ends of an axis that counts heads
ASIDE = 1.09  # times the count of heads: the distance of two lines that would lie on each other


def panels(count: int, width: float = 2.3, height: float = 1.85, columns: int = 4) -> tuple[Figure, list[Axes]]:
    """`count` panels, four in a row; a single one is larger."""
    if count == 1:
        width, height = 3.4, 2.5
    columns = min(columns, count)
    rows = math.ceil(count / columns)
    figure = Figure(figsize=(columns * width + 0.3, rows * height + 0.7), layout="constrained")
    grid = figure.add_gridspec(rows, columns)
    all_axes = [figure.add_subplot(grid[i // columns, i % columns]) for i in range(count)]
    for axes in all_axes:
        axes.spines[["top", "right"]].set_visible(False)
    return figure, all_axes


def entitle(axes: Axes, name: str, note: str = "", inches: float = 2.1) -> None:
    """The name of a panel, and a remark in small print between it and the panel."""
    axes.set_title(wrapped(name, inches), pad=4 + (1.3 * SMALL) * len(note.splitlines()))
    if note:
        axes.annotate(
            note, (0.5, 1), (0, 3), "axes fraction", "offset points", ha="center", va="bottom", fontsize=SMALL,
            color=QUIET,
        )  # fmt: skip


def hatch(axes: Axes, why: str) -> None:
    """Cover a panel that is not to be read, and say why."""
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    axes.add_patch(
        Rectangle(
            (left, bottom), right - left, top - bottom, fill=False, hatch="///", edgecolor="#ffffffb0", linewidth=0
        )
    )
    note = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": "none", "alpha": 0.9}
    axes.text(
        0.5, 0.5, wrapped(why, 1.6), transform=axes.transAxes, ha="center", va="center", fontsize=SMALL, bbox=note
    )


def label(figure: Figure, x: str, y: str) -> None:
    """One label for the axes of all panels."""
    figure.supxlabel(x, fontsize=BASE)
    figure.supylabel(y, fontsize=BASE)


def legend(figure: Figure, handles: Sequence[Artist], panels: int) -> None:
    """Above all panels; entries below each other where there is no width."""
    figure.legend(handles=handles, loc="outside upper center", ncols=1 if panels < 3 else len(handles))


def key(text: str, colour: str, **how: Any) -> Line2D:
    return Line2D([], [], color=colour, label=text, **{"linewidth": 1.3, "markersize": 4} | how)


def band(text: str, colour: str, line: bool = False) -> Patch:
    edge = {"linewidth": 1.0, "edgecolor": colour} if line else {"linewidth": 0}
    return Patch(facecolor=(colour, 0.25), label=text, **edge)


def zero_line(axes: Axes, at: float = 0.0, vertical: bool = False) -> None:
    line = axes.axvline if vertical else axes.axhline
    line(at, color=LINE, linewidth=0.6, linestyle=(0, (4, 3)), zorder=0)


def whiskers(axes: Axes, at: Any, low: Any, high: Any, colour: str, across: bool = False) -> None:
    """Intervals as thin lines; those that are not known are left out."""
    at, low, high = (np.atleast_1d(np.asarray(values, dtype=float)) for values in (at, low, high))
    known = np.isfinite(low) & np.isfinite(high)
    if known.any():
        draw = axes.hlines if across else axes.vlines
        draw(at[known], low[known], high[known], color=colour, linewidth=1.1)


def spread(axes: Axes, drawn: pd.DataFrame, name: str = "random") -> None:
    """Random draws by number of heads: their mean as a line, 95 % of them as a band; across the whole panel where there
    is only one number."""
    if len(drawn) == 1:
        (only,) = drawn.itertuples()
        axes.axhspan(only.low, only.high, color=RANDOM, alpha=0.25, linewidth=0)
        axes.axhline(only.mean, color=RANDOM, linewidth=1, label=name)
        return
    axes.fill_between(drawn.index, drawn["low"], drawn["high"], color=RANDOM, alpha=0.25, linewidth=0)
    axes.plot(drawn.index, drawn["mean"], color=RANDOM, linewidth=1, label=name)


def beside(number: int, of: int) -> float:
    """What the count of heads is multiplied by to set several lines of one point side by side."""
    return ASIDE ** (number - (of - 1) / 2)


def head_counts(axes: Axes, counts: Sequence[int], shown: Sequence[int], usual: Sequence[int]) -> None:
    """A base-2 axis from the least to the most of `counts`, with a tick at each of `shown`.

    Where two labels would touch, the one of a `usual` count stays, then that of a power of two.
    """
    least, most = min(counts), max(counts)
    axes.set_xscale("log", base=2)
    axes.set_xlim(least / EDGE, most * EDGE)
    axes.xaxis.set_major_locator(FixedLocator(list(shown)))
    axes.xaxis.set_minor_locator(NullLocator())
    inches = 1.7 / max(math.log2(most / least), 1)
    labelled: list[int] = []
    for count in sorted(shown, key=lambda k: (k not in usual, k & (k - 1) != 0, -k)):
        room = 0.07 * len(str(count)) + 0.06
        if all(abs(math.log2(count / other)) * inches >= room for other in labelled):
            labelled.append(count)
    axes.set_xticks(list(shown), labels=[str(count) if count in labelled else "" for count in shown])


def ranked_by(outcome: Outcome) -> str:
    """The label of an axis that counts heads: what was done to them, and who ranked them by what rule."""
    axis = outcome.test.axis
    return f"{axis[:1].upper()}{axis[1:]}, ranked by {outcome.chosen_by}"


def task_counts(rows: pd.DataFrame) -> tuple[dict[str, list[int]], list[int], list[int]]:
    """The numbers of heads of every task, of all tasks together, and those that all tasks have."""
    counts = {task: sorted({int(k) for k in task_rows["k"]}) for task, task_rows in by_task(rows)}
    every = sorted(set().union(*counts.values()))
    return counts, every, [k for k in every if all(k in of_task for of_task in counts.values())]
