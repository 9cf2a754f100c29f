"""Rows of an atlas as views want them: the outcome of one test of one method's maps, and how rows are picked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from headatlas.atlas.declarations import MethodInfo, TestInfo
from headatlas.suites.neutral.generate import TASK as NEUTRAL

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

__all__ = ["NEUTRAL", "Outcome", "by_task", "draws", "only", "outcome", "outcomes", "single", "with_headline"]


@dataclass(frozen=True)
class Outcome:
    """What one test of one method's maps gave.

    `levels` are metrics under an intervention, with their `change` from the intact model and its interval
    (`change_low`, `change_high`). `differences` compare one control with another, named in `compared_with`. The two are
    never mixed.
    """

    test: TestInfo
    method: MethodInfo
    levels: pd.DataFrame
    differences: pd.DataFrame
    heads: int  # of the model
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def chosen_by(self) -> str:
        """Who chose the heads, and by what rule."""
        return f"{self.method.name}, {self.rule}"

    @property
    def rule(self) -> str:
        """The rule by which heads were chosen. A test that needs several measures takes heads by each of them."""
        if self.test.needs:
            return f"by {', '.join(self.test.needs)}"
        return self.method.ranking_by(self.settings.get("measure") or self.method.primary)

    @cached_property
    def curve(self) -> pd.DataFrame:
        """Levels over a number of heads. Rows with a factor are single points beside it."""
        return self.levels[self.levels["k"].notna() & self.levels["factor"].isna()]

    @cached_property
    def summaries(self) -> pd.DataFrame:
        """Levels that sum up a whole curve, such as an area under it: they belong to no number of heads."""
        return self.levels[self.levels["k"].isna()]

    @cached_property
    def chosen(self) -> list[str]:
        """The controls that take heads by the map, as declared, as far as there are rows of them."""
        present = set(self.levels["control"])
        return [control for control in self.test.chosen if control in present]

    @cached_property
    def others(self) -> list[str]:
        """All further controls but the reference, in the order of the rows."""
        known = {*self.test.chosen, self.test.reference}
        return [control for control in dict.fromkeys(self.levels["control"]) if control not in known]

    @property
    def most_heads(self) -> int | None:
        """The largest number of heads that was tried."""
        most = self.levels["k"].max()
        return None if pd.isna(most) else int(most)

    @cached_property
    def metrics(self) -> list[str]:
        """The metrics that were measured on tasks, the headline first."""
        on_tasks = self.levels[self.levels["k"].notna() & (self.levels["eval_task"] != NEUTRAL)]
        present = list(dict.fromkeys(on_tasks["metric"]))
        return sorted(present, key=lambda name: name != self.test.headline)


def outcomes(atlas: Atlas, method: str | None = None) -> list[Outcome]:
    """All outcomes of an atlas, in the order of its rows, or those about one method's maps."""
    table = atlas.evidence
    pairs = table[["test", "method"]].drop_duplicates().itertuples(index=False)
    return [outcome(atlas, test, name) for test, name in pairs if method in (None, name)]


def outcome(atlas: Atlas, test: str, method: str) -> Outcome:
    rows = only(atlas.evidence, test=test, method=method).copy()
    rows["change"] = rows["value"] - rows["intact"]
    rows["change_low"], rows["change_high"] = rows["low"] - rows["intact"], rows["high"] - rows["intact"]
    is_difference = rows["compared_with"].notna()
    runs = [entry for entry in atlas.run.verifications if (entry.test, entry.method) == (test, method)]
    return Outcome(
        with_headline(atlas.run.test(test), rows),
        atlas.info(method),
        rows[~is_difference],
        rows[is_difference],
        atlas.shape[0] * atlas.shape[1],
        runs[-1].settings if runs else {},
    )


def with_headline(test: TestInfo, rows: pd.DataFrame) -> TestInfo:
    """A test with the headline that its rows have: the log-probability where some measured task has no margin."""
    levels = rows[rows["compared_with"].isna() & (rows["eval_task"] != NEUTRAL)]
    by_metric = {name: set(part["eval_task"]) for name, part in levels.groupby("metric")}
    complete = by_metric.get(test.headline, set()) >= by_metric.get("logprob", set())
    if test.headline != "margin" or complete or "logprob" not in by_metric:
        return test
    return test.model_copy(update={"headline": "logprob"})


def only(rows: pd.DataFrame, **wanted: Any) -> pd.DataFrame:
    """The rows that have these values in these columns."""
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    return rows


def by_task(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The tasks in the order of the table."""
    yield from rows.groupby("task", sort=False)


def draws(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Random draws by number of heads: the `mean` of a column, and from where to where 95 % of the draws lie."""
    grouped = rows.groupby("k")[column]
    return pd.DataFrame({"mean": grouped.mean(), "low": grouped.quantile(0.025), "high": grouped.quantile(0.975)})


def single(rows: pd.DataFrame, column: str = "value", **wanted: Any) -> float:
    """The one number that these values lead to; NaN where there is none."""
    values = only(rows, **wanted)[column]
    return float(values.iloc[0]) if len(values) else float("nan")
