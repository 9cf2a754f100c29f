"""Reading figures back: what is drawn in their panels."""

import numpy as np
from matplotlib.collections import LineCollection


def evidence_rows(atlas, compared_with=None, **wanted):
    """The levels of the evidence with these values, or the differences from a control, by number of heads."""
    rows = atlas.evidence
    rows = rows[rows["compared_with"].isna() if compared_with is None else rows["compared_with"] == compared_with]
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    return rows.sort_values("k", kind="stable")


def panels_by_title(figure):
    return {axes.get_title().replace("\n", " "): axes for axes in figure.axes}


def line(axes, name):
    """The points of the line with a label."""
    (only_one,) = [line for line in axes.lines if line.get_label() == name]
    return np.asarray(only_one.get_xdata(), dtype=float), np.asarray(only_one.get_ydata(), dtype=float)


def intervals(axes):
    """(position, low, high) of every interval, whichever way they run."""
    ends = set()
    for collection in axes.collections:
        if isinstance(collection, LineCollection):
            for (x, y), (x2, y2) in collection.get_segments():
                is_upright = x == x2
                ends.add(tuple(np.round((x, y, y2) if is_upright else (y, x, x2), 9)))
    return ends


def change_intervals(rows, positions):
    """The intervals of the changes in these rows, as `intervals` gives them."""
    ends = zip(positions, rows["low"] - rows["intact"], rows["high"] - rows["intact"], strict=True)
    return {tuple(np.round(end, 9)) for end in ends}
