"""How numbers travel inside the page: short in JSON, and packed as base64 where there is one per head."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from headatlas.stats import LEVEL, Array

LARGEST_HALF = 32768.0  # half floats reach to 65504; twice this would not fit


def as_json(data: Any) -> str:
    """JSON that is safe inside a script element: no `<`, `>` or `&`, and nothing outside ASCII."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def plain(value: Any) -> Any:
    """A value of a table as JSON: text stays, numbers are rounded, what is missing is null."""
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return number(value)
    return None if value is pd.NA or value is pd.NaT else str(value)


def number(value: Any) -> float | int | None:
    """Four significant digits; whole numbers as such; null for what is not finite."""
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.4g}") if abs(value) < 1e4 else round(float(value), 1)
    return int(rounded) if rounded == int(rounded) else rounded


def numbers(values: ArrayLike) -> list[float | int | None]:
    return [number(value) for value in np.asarray(values, dtype=float)]


def packed(values: NDArray[Any]) -> str:
    """The bytes of an array, little-endian, as base64."""
    return base64.b64encode(values.astype(values.dtype.newbyteorder("<")).tobytes()).decode()


def packed_floats(values: Array) -> dict[str, Any]:
    return {"bytes": packed(values.astype(np.float32))}


def packed_halves(values: Array) -> dict[str, Any] | None:
    """Half as many bytes, with an error below 0.05 % of each value; null where no value is finite.

    A common power of two as `scale` keeps small values from losing digits.
    """
    finite = values[np.isfinite(values)]
    if not finite.size:
        return None
    largest = float(np.abs(finite).max())
    scale = 2.0 ** math.ceil(math.log2(largest / LARGEST_HALF)) if largest else 1.0
    return {"scale": scale, "bytes": packed((values / scale).astype(np.float16))}


def packed_q(q_values: Array) -> dict[str, Any] | None:
    """The same for q-values. None that is at or above the level may be rounded to below it."""
    with np.errstate(invalid="ignore"):
        halves = q_values.astype(np.float16)
        lowered = (q_values >= LEVEL) & (halves.astype(float) < LEVEL)
    return packed_halves(np.where(lowered, np.nextafter(halves, np.float16(1)).astype(float), q_values))


def packed_ranks(ranks: NDArray[np.int64]) -> dict[str, Any]:
    """Two bytes per head, or four in a model with very many; 0 stands for a head that was not measured."""
    kind = np.uint16 if ranks.size < 2**16 else np.uint32
    return {"bytes": packed(ranks.astype(kind)), "width": np.dtype(kind).itemsize}
