"""Rows of the tables, as figures and terminal tables want them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from headatlas.suites.neutral.generate import TASK as NEUTRAL

if TYPE_CHECKING:
    from headatlas.atlas.reading import Atlas

__all__ = ["NEUTRAL", "by_task", "curves", "draws", "evidence", "only", "single"]


def only(rows: pd.DataFrame, **wanted: Any) -> pd.DataFrame:
    """The rows that have these values in these columns."""
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    return rows


def evidence(atlas: Atlas, test: str, method: str) -> pd.DataFrame:
    """What one test of one method's maps found, with the `change` from the intact model and its interval."""
    rows = only(atlas.evidence, test=test, method=method).copy()
    rows["change"] = rows["value"] - rows["baseline"]
    rows["change_low"], rows["change_high"] = rows["low"] - rows["baseline"], rows["high"] - rows["baseline"]
    return rows


def curves(atlas: Atlas, method: str) -> pd.DataFrame:
    """The sorted sizes of importance of a method's maps, in order of rank."""
    return only(atlas.diagnostics, method=method, metric="curve", seed=0).sort_values("place", kind="stable")


def by_task(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The tasks in the order of the table."""
    yield from rows.groupby("task", sort=False)


def draws(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Random draws by number of heads: the `mean` of a column, and from where to where 95 % of the draws lie."""
    grouped = rows.groupby("k")[column]
    return pd.DataFrame({"mean": grouped.mean(), "low": grouped.quantile(0.025), "high": grouped.quantile(0.975)})


def single(rows: pd.DataFrame, column: str = "value", **wanted: Any) -> float:
    """The one number that these values lead to; NaN where there is none."""
    found = only(rows, **wanted)[column]
    return float(found.iloc[0]) if len(found) else float("nan")
