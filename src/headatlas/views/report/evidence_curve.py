"""Numbers over a count of heads, as sentences and tables: shapes `curve` and `recovery`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from headatlas.stats import LEVEL
from headatlas.views.metrics import metric
from headatlas.views.report.markdown import bullets, plain, table
from headatlas.views.rows import Outcome, by_task, only, single
from headatlas.wording import MISSING, count, decimal, interval, p_value, signed

DIGITS = 3


def curve_lines(outcome: Outcome) -> list[str]:
    """One sentence per task, every number of heads as a table, and the points that lie beside the curve."""
    return [bullets(_verdicts(outcome)), _levels_table(outcome), _points_table(outcome)]


def recovery_lines(outcome: Outcome) -> list[str]:
    """What sums up the curves, then every number of heads."""
    return [_summaries_table(outcome), _levels_table(outcome), _points_table(outcome)]


def _verdicts(outcome: Outcome) -> list[str]:
    """For each task its largest number of heads that was compared with the reference."""
    sentences = []
    headline = outcome.test.headline
    compared = only(outcome.differences, metric=headline)
    for (task, control), rows in compared[compared["p_value"].notna()].groupby(["task", "control"], sort=False):
        k = int(rows["k"].max())
        p = single(rows, "p_value", k=k)
        level = only(outcome.curve, task=task, metric=headline, k=k)
        chosen, reference = only(level, control=control), only(level, control=outcome.test.reference)["change"]
        against = ""
        if len(reference):
            drawn = count(len(reference), f"{outcome.test.reference} choice")
            against = f", {drawn} {signed(reference.mean(), DIGITS)} on average"
        change = interval(single(chosen, "change_low"), single(chosen, "change_high"), DIGITS, sign=True)
        sentences.append(
            f"{plain(task)}: with {_heads(k, outcome.test.axis)} ({plain(control)}) the {metric(headline).label} "
            f"changes by {signed(single(chosen, 'change'), DIGITS)} ({change}){against}; p {p_value(p)}: "
            f"{'more than chance' if p < LEVEL else 'not more than chance'}."
        )
    return sentences


def _heads(k: int, axis: str) -> str:
    """A number of heads and what was done to them: "4 heads removed"."""
    return f"{k} {plain(axis)}" if k != 1 else f"1 {plain(axis).replace('heads', 'head', 1)}"


def _levels_table(outcome: Outcome) -> str:
    """One row per task, metric, number of heads and choice of heads, beside the reference and the other controls."""
    several = len(outcome.chosen) > 1
    reference = outcome.test.reference if outcome.test.reference in set(outcome.levels["control"]) else None
    chosen_headings = ("heads", "value") if several else (plain(outcome.test.chosen[0]),)
    headings = ["task", "metric", plain(outcome.test.axis), "intact", *chosen_headings, "95 % interval"]
    headings += [plain(reference)] if reference else []
    has_p = bool(outcome.differences["p_value"].notna().any())
    headings += [*map(plain, outcome.others), *["p"] * has_p]
    rows = []
    for (task, name, k), level in outcome.curve.groupby(["task", "metric", "k"], sort=False):
        compared = only(outcome.differences, task=task, metric=name, k=k)
        for control in outcome.chosen or [""]:
            chosen = only(level, control=control)
            value = decimal(single(chosen), DIGITS)
            cells = [plain(task), metric(name).with_unit, f"{k:.0f}", decimal(level["intact"].iloc[0], DIGITS)]
            cells += [plain(control), value] if several else [value]
            cells.append(interval(single(chosen, "low"), single(chosen, "high"), DIGITS))
            cells += [_drawn(only(level, control=reference)["value"])] if reference else []
            cells += [decimal(single(level, control=other), DIGITS) for other in outcome.others]
            cells += [p_value(single(compared, "p_value", control=control))] if has_p else []
            rows.append(cells)
    return table(headings, rows) if rows else ""


def _drawn(values: pd.Series) -> str:
    """The mean of random draws, and where 95 % of them lie."""
    if values.empty:
        return MISSING
    mean = decimal(values.mean(), DIGITS)
    if len(values) == 1:
        return mean
    low, high = np.quantile(values, [0.025, 0.975])
    return f"{mean} ({interval(low, high, DIGITS)}, {len(values)} draws)"


def _points_table(outcome: Outcome) -> str:
    """Levels with a factor of their own, such as a threshold: single points beside the curve."""
    points = outcome.levels[outcome.levels["k"].notna() & outcome.levels["factor"].notna()]
    rows = [
        (plain(row.task), metric(row.metric).with_unit, plain(row.control), f"{row.factor:g}", f"{row.k:.0f}",
         signed(row.change, DIGITS), interval(row.change_low, row.change_high, DIGITS, sign=True))
        for row in points.itertuples()
    ]  # fmt: skip
    headings = ("task", "metric", "heads", "factor", plain(outcome.test.axis), "change", "95 % interval")
    return table(headings, rows) if rows else ""


def _summaries_table(outcome: Outcome) -> str:
    """Numbers that sum up a whole curve, with their intervals: one row per task and control."""
    names = list(dict.fromkeys(outcome.summaries["metric"]))
    if not names:
        return ""
    rows = []
    for task, task_rows in by_task(outcome.summaries):
        for control in dict.fromkeys(task_rows["control"]):
            cells = [plain(task), plain(control)]
            for name in names:
                area = only(task_rows, control=control, metric=name)
                cells += [decimal(single(area), DIGITS), interval(single(area, "low"), single(area, "high"), DIGITS)]
            rows.append(cells)
    headings = ["task", "heads", *(heading for name in names for heading in (metric(name).with_unit, "95 % interval"))]
    return table(headings, rows)
