"""The evidence of an atlas in words and tables: what interventions did to the model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from headatlas.views.report.markdown import interval, number, plain, table

P_VALUE = "p_value"  # the metric of rows that hold the p-value of `top` against the random draws


def evidence_section(evidence: pd.DataFrame) -> list[str]:
    """All tests that the atlas holds; nothing where there are none."""
    if evidence.empty:
        return []
    lines = ["## Evidence"]
    for (test, method), rows in evidence.groupby(["test", "method"], sort=False):
        lines += [
            f"### {plain(test).capitalize()}: heads chosen by {plain(method)}",
            *SECTIONS.get(test, _plain_rows)(rows),
        ]
    return lines


def _curve(rows: pd.DataFrame) -> list[str]:
    """Mask and keep: the chosen heads against random and lowest ones, by number of heads."""
    numbers, p_values = rows[rows["metric"] != P_VALUE], rows[rows["metric"] == P_VALUE]
    cells, sentences = [], []
    for (task, metric, k), own in numbers.groupby(["task", "metric", "k"], sort=False):
        tops, random = own[own["control"] == "top"], own.loc[own["control"] == "random", "value"]
        if tops.empty:
            continue
        top = tops.iloc[0]
        lowest = own.loc[own["control"] == "lowest", "value"]
        p = _p_of(p_values, task, k)
        middle, reach = number(random.mean(), "{:.3f}"), ""
        if len(random) > 1:
            reach = f" ({interval(*np.quantile(random, [0.025, 0.975]))}, {len(random)} draws)"
        cells.append((plain(task), metric, k, number(top.baseline, "{:.3f}"), number(top.value, "{:.3f}"),
                      interval(top.low, top.high), middle + reach,
                      number(lowest.iloc[0], "{:.3f}") if len(lowest) else "–", number(p, "{:.2g}")))  # fmt: skip
        if not np.isnan(p) and metric == "logprob":
            sentences.append((task, k, top, random, p))
    headings = ("task", "metric", "k", "intact", "top k", "95 % interval", "random k", "lowest k", "p")
    return [_verdicts(sentences), table(headings, cells)]


def _verdicts(found: list[tuple[str, int, pd.Series, pd.Series, float]]) -> str:
    """One sentence a task, for its largest k that has a p-value."""
    largest = {task: (k, top, random, p) for task, k, top, random, p in sorted(found, key=lambda entry: entry[1])}
    lines = []
    for task, (k, top, random, p) in largest.items():
        against = (
            f", {len(random)} random choices {random.mean() - top.baseline:+.3f} on average" if len(random) else ""
        )
        lines.append(
            f"- {plain(task)}: with its top {k} heads the log-probability changes by {top.value - top.baseline:+.3f} "
            f"({interval(top.low - top.baseline, top.high - top.baseline, sign=True)}){against}; p {p:.2g}: "
            f"{'more than chance' if p < 0.05 else 'not more than chance'}."
        )
    return "\n".join(lines)


def _p_of(p_values: pd.DataFrame, task: str, k: int) -> float:
    own = p_values[(p_values["task"] == task) & (p_values["k"] == k)]
    return float(own["value"].iloc[0]) if len(own) else float("nan")


def _matrix(rows: pd.DataFrame) -> list[str]:
    """Specificity and hierarchy: change of every measured task (column) by the heads of every task (row)."""
    lines = []
    numbers = rows[rows["metric"] != P_VALUE]
    for (metric, control, k), own in numbers.groupby(["metric", "control", "k"], sort=False, dropna=False):
        change = own.assign(change=own["value"] - own["baseline"])
        grid = change.pivot_table(index="task", columns="eval_task", values="change", sort=False)
        if grid.empty:
            continue
        heads = "" if pd.isna(k) else f" {int(k)} heads"
        title = f"Change of {plain(metric)} by {plain(control)}{heads}; rows: whose heads, columns: what was measured."
        cells = [
            (plain(task), *(number(value, "{:+.3f}") for value in values))
            for task, values in zip(grid.index, grid.to_numpy(), strict=True)
        ]
        lines += [title, table(("heads of", *map(plain, grid.columns)), cells)]
    return lines


def _plain_rows(rows: pd.DataFrame) -> list[str]:
    """Anything else, row by row; random draws are averaged."""
    cells = []
    keys = ["task", "eval_task", "control", "k", "metric"]
    for (task, measured, control, k, metric), own in rows.groupby(keys, sort=False, dropna=False):
        low, high = (own["low"].iloc[0], own["high"].iloc[0]) if len(own) == 1 else (np.nan, np.nan)
        names = (("–" if pd.isna(name) else plain(name)) for name in (task, measured, control))
        cells.append((*names, "–" if pd.isna(k) else int(k), plain(metric), number(own["baseline"].mean(), "{:.3f}"),
                      number(own["value"].mean(), "{:.3f}"), interval(low, high), len(own)))  # fmt: skip
    headings = ("heads of", "measured", "control", "k", "metric", "intact", "value", "95 % interval", "draws")
    return [table(headings, cells)]


SECTIONS: dict[str, Callable[[pd.DataFrame], list[str]]] = {
    "mask": _curve,
    "keep": _curve,
    "specificity": _matrix,
    "hierarchy": _matrix,
}
