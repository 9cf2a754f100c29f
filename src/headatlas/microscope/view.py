"""What is looked at: a task with its held-out examples, and those of its heads that were asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from headatlas.atlas.portraits import Number
from headatlas.atlas.records import Head
from headatlas.stats import Array, summarise

if TYPE_CHECKING:
    from headatlas.run.quantity import TaskQuantity

GRAPH = 6  # strongest heads of a task, of which all pairs are measured
SHOWN_DIGITS = 6


@dataclass(frozen=True)
class TaskView:
    """The heads of a task that are looked at.

    `quantity` is what the map was made from, on held-out examples; `ranking` has the heads of the map in order.
    `specific` is that measure of the map with its q-value, by head.
    """

    method: str
    quantity: TaskQuantity
    ranking: Sequence[Head]
    heads: tuple[Head, ...]
    specific: dict[Head, tuple[Number, float | None]]

    @property
    def task(self) -> str:
        return self.quantity.task

    @property
    def strongest(self) -> tuple[Head, ...]:
        """The heads of the graph, in the order of layers."""
        return tuple(sorted(self.ranking[:GRAPH]))

    @property
    def others(self) -> tuple[Head, ...]:
        """Heads that were asked for and are not in the graph."""
        return tuple(sorted(set(self.heads) - set(self.strongest)))


def numbers(effects: Array, groups: Sequence[str]) -> list[Number]:
    """The means over examples of [example, column]."""
    summary = summarise(effects, groups)
    columns = zip(summary.mean, summary.low, summary.high, summary.p_value, strict=True)
    return [number(*column) for column in columns]


def number(value: float, low: float, high: float, p: float) -> Number:
    """What is not known is null."""
    return Number(value=short(value), low=known(low), high=known(high), p=known(p))


def known(value: float | None) -> float | None:
    """None for NaN."""
    return None if value is None or not math.isfinite(value) else short(value)


def short(value: float) -> float:
    """As many digits as anybody reads: files are read as text."""
    return float(np.format_float_positional(value, SHOWN_DIGITS, fractional=False)) if math.isfinite(value) else value
