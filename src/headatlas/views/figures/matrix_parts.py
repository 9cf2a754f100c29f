"""Parts that figures with a matrix of changes share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from headatlas.stats import Array
from headatlas.views.figures.style import BASE, DAMAGE, SMALL, wrapped
from headatlas.views.rows import Outcome
from headatlas.views.scale import scale_top


def signed_image(axes: Axes, grid: Array) -> AxesImage:
    """A matrix of changes, white at zero; a cell without a number is grey."""
    top, _ = scale_top(np.abs(grid))
    image = axes.imshow(np.ma.masked_invalid(grid), cmap=DAMAGE, vmin=-top, vmax=top, aspect="auto")
    for side in axes.spines.values():
        side.set_visible(False)
    return image


def signed_bar(figure: Figure, image: AxesImage, axes: Axes, text: str) -> None:
    """The colour bar below a matrix of changes; pointed ends say that numbers lie beyond it."""
    beyond = bool((np.ma.abs(np.ma.asarray(image.get_array())) > image.get_clim()[1]).any())
    bar = figure.colorbar(
        image,
        ax=axes,
        location="bottom",
        extend="both" if beyond else "neither",
        fraction=0.06,
        aspect=30,
        pad=0.03,
        shrink=0.7,
    )
    bar.set_label(text)
    bar.outline.set_linewidth(0.6)


def name_cells(axes: Axes, rows: Sequence[str], columns: Sequence[str], inches: float, upright: float = 0) -> None:
    """Names of rows on the left, of columns on top: slanted, or upright where a column has the width for it."""
    axes.set_yticks(range(len(rows)), labels=[wrapped(name, inches, BASE) for name in rows])
    if upright:
        axes.set_xticks(range(len(columns)), labels=[wrapped(name, upright, BASE, 3) for name in columns])
    else:
        names = [wrapped(name, inches, BASE, 1) for name in columns]
        axes.set_xticks(range(len(columns)), labels=names, rotation=45, ha="left", va="bottom", rotation_mode="anchor")
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)


def cell_text(
    axes: Axes, image: AxesImage, row: int, column: int, text: str, below: float = 0, size: float = SMALL, **how: Any
) -> None:
    """Text in a cell of an image, black or white, whichever can be read on its colour; `below` its middle."""
    red, green, blue, _ = image.to_rgba(np.ma.asarray(image.get_array()))[row, column]
    colour = "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "black"
    axes.text(column, row + below, text, ha="center", va="center", fontsize=size, color=colour, **how)


def heads_label(outcome: Outcome) -> str:
    """The label of rows of heads: how many, what was done to them, and who chose them by what rule."""
    heads = outcome.most_heads
    axis = outcome.test.axis
    counted = f"{heads} {axis}" if heads else f"{axis[:1].upper()}{axis[1:]}"
    return f"{counted},\nby {outcome.method.name}\n({outcome.rule}), of"
