"""Rows of evidence prepared for the page: random draws averaged, metrics in order, intervals in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from headatlas.atlas.declarations import TestInfo
from headatlas.wording import fitting_digits, interval, signed

ENOUGH_DRAWS = 20  # with fewer, a band is the range of the draws
KEYS = ["task", "eval_task", "control", "factor", "compared_with", "metric", "k"]


class Point(NamedTuple):
    """The outcome of one intervention in one metric, as in `tables.EVIDENCE`; numbers that are missing are NaN."""

    task: str
    eval_task: str | None
    control: str
    factor: float | None
    compared_with: str | None
    metric: str
    k: int | None
    value: float
    low: float
    high: float
    intact: float
    p_value: float
    q_value: float
    remark: str | None
    draws: int

    @property
    def change(self) -> tuple[float, float, float]:
        """The change from the intact model, and its interval."""
        return self.value - self.intact, self.low - self.intact, self.high - self.intact

    @property
    def is_level(self) -> bool:
        return self.compared_with is None


def average_draws(rows: pd.DataFrame) -> list[Point]:
    """One point per intervention. Several draws become their mean, with the band of 95 % of them, or of all if few."""
    grouped = rows.groupby(KEYS, sort=False, dropna=False)
    table = grouped.agg(
        value=("value", "mean"),
        low=("low", "first"),
        high=("high", "first"),
        intact=("intact", "mean"),
        p_value=("p_value", "first"),
        q_value=("q_value", "first"),
        remark=("remark", "first"),
        draws=("value", "size"),
    )
    drawn, few = table["draws"] > 1, table["draws"].between(2, ENOUGH_DRAWS - 1)
    if drawn.any():
        for name, share in (("low", 0.025), ("high", 0.975)):
            band, extreme = grouped["value"].quantile(share), grouped["value"].quantile(round(share))
            table[name] = table[name].where(~drawn, band).where(~few, extreme)
    return [_point(values) for values in table.reset_index().itertuples(index=False, name=None)]


def _point(values: tuple[Any, ...]) -> Point:
    keys: list[Any] = [None if pd.isna(key) else key for key in values[: len(KEYS)]]
    keys[-1] = None if keys[-1] is None else int(keys[-1])
    return Point._make([*keys, *values[len(KEYS) :]])


def metric_names(info: TestInfo, points: Sequence[Point]) -> list[str]:
    """The metrics that a reader can choose, the headline first. Single numbers without a count of heads are notes."""
    names = distinct(point.metric for point in points if point.is_level and point.k is not None)
    return sorted(names or distinct(point.metric for point in points), key=lambda name: name != info.headline)


def distinct(names: Iterable[str]) -> list[str]:
    """Every name once, in the order of its first appearance."""
    return list(dict.fromkeys(names))


def excludes_zero(low: float, high: float) -> bool:
    return bool(low > 0 or high < 0)


def change_text(value: float) -> str:
    return signed(value, fitting_digits(value))


def change_interval(low: float, high: float) -> str | None:
    """The interval of a change in words; None where it is not known."""
    if math.isnan(low) or math.isnan(high):
        return None
    return interval(low, high, max(fitting_digits(low), fitting_digits(high)), sign=True)
