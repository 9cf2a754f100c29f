"""Round numbers for colour scales and ticks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from headatlas.atlas.declarations import Measure
from headatlas.stats import Array


@dataclass(frozen=True)
class MapScale:
    """The scale of maps of one measure, from 0 to `top`; `clipped` where values lie above it."""

    top: float
    clipped: bool
    label: str


def map_scale(measure: Measure, sizes: Array) -> MapScale:
    """From 0 to 1 where the measure lies there; else up to a round number for the sizes |value| of all maps."""
    if measure.zero_to_one:
        return MapScale(1.0, False, measure.label)
    return MapScale(*scale_top(sizes), f"size of {measure.label}")


def tick_step(count: int) -> int:
    """Every 6, as in the literature; 3 or 2 for few rows, multiples of 6 for many, so that labels never touch."""
    if count <= 6:
        return 1
    if count <= 10:
        return 2 if count < 8 else 3
    return 6 if count <= 48 else 6 * math.ceil(count / 48)


def scale_top(values: Array) -> tuple[float, bool]:
    """The top of the colour scale, a round number just above the 99th percentile, and whether anything lies above."""
    finite = values[np.isfinite(values)]
    high = float(np.quantile(finite, 0.99)) if finite.size else 0.0
    if high <= 0:
        high = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
    power = 10.0 ** math.floor(math.log10(high))
    steps = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
    # Four decimals are printed: a smaller top than 0.0005 could not be read off the bar.
    top = max(next(step * power for step in steps if step * power >= high * (1 - 1e-9)), 0.0005)
    return top, bool(finite.size and finite.max() > top)


def scale_ticks(top: float) -> list[float]:
    """From 0 to the top in 3 to 6 round steps."""
    leading = round(top / 10.0 ** math.floor(math.log10(top)), 1)
    parts = {1.5: 3, 3: 3, 6: 3, 2: 4, 4: 4, 8: 4}.get(leading, 5)
    return [top * i / parts for i in range(parts + 1)]
