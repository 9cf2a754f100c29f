"""Rows of evidence made ready: random draws averaged, metrics in order, intervals in words."""

from __future__ import annotations

import pandas as pd

from headatlas.atlas.declarations import TestInfo
from headatlas.wording import fitting_digits, interval, signed

ENOUGH_DRAWS = 20  # with fewer, a band is the range of the draws
KEYS = ["task", "eval_task", "control", "factor", "compared_with", "metric", "k"]


def average_draws(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per intervention. Several draws become their mean, with the band of 95 % of them, or of all if few."""
    grouped = rows.groupby(KEYS, sort=False, dropna=False)
    points = grouped.agg(
        value=("value", "mean"),
        low=("low", "first"),
        high=("high", "first"),
        intact=("intact", "mean"),
        p_value=("p_value", "first"),
        draws=("value", "size"),
    )
    drawn, few = points["draws"] > 1, points["draws"].between(2, ENOUGH_DRAWS - 1)
    for name, share in (("low", 0.025), ("high", 0.975)):
        points.loc[drawn, name] = grouped["value"].quantile(share)[drawn]
        points.loc[few, name] = grouped["value"].quantile(round(share))[few]
    return points.reset_index()


def metric_names(info: TestInfo, rows: pd.DataFrame) -> list[str]:
    """The metrics that a reader can choose, the headline first. Single numbers without a count of heads are notes."""
    levels = rows[rows["compared_with"].isna() & rows["k"].notna()]
    names = list(dict.fromkeys(levels["metric"])) or list(dict.fromkeys(rows["metric"]))
    return sorted(names, key=lambda name: name != info.headline)


def excludes_zero(low: float, high: float) -> bool:
    return bool(low > 0 or high < 0)


def change_text(value: float) -> str:
    return signed(value, fitting_digits(value))


def change_interval(low: float, high: float) -> str | None:
    """The interval of a change in words; None where it is not known."""
    if pd.isna(low) or pd.isna(high):
        return None
    return interval(low, high, max(fitting_digits(low), fitting_digits(high)), sign=True)
