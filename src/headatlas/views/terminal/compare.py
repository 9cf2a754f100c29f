"""Two maps compared, as tables."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from headatlas.patterns.compare import ComparedTask, Comparison, Estimate
from headatlas.stats import LEVEL
from headatlas.views.terminal.console import plain_table
from headatlas.wording import MISSING, decimal, head_name, interval, p_value, signed

MOST = 5  # heads of a task that are listed
DIGITS = 4


def comparison_table(comparison: Comparison) -> Group:
    """One row per task, the heads that differ beyond noise, and what to keep in mind."""
    first, second = comparison.labels
    title = Text(f"{first} and {second}, by {comparison.by}", style="italic")
    table = _heads(comparison) if comparison.by == "heads" else _depth(comparison)
    remarks = [Text(remark, style="dim") for remark in comparison.remarks]
    return Group(title, table, *_differing(comparison), Text(""), *remarks)


def _heads(comparison: Comparison) -> RenderableType:
    columns = [
        "rank\ncorrelation",
        "95 % interval",
        f"same of\nfirst {comparison.k}",
        "by\nchance",
        "differ\nbeyond noise",
    ]
    table = plain_table(["task", *columns])
    for task in comparison.tasks:
        differing = str(len(task.differing)) if task.tested else MISSING
        shared = (str(len(task.shared)), decimal(task.by_chance, 1))
        table.add_row(Text(task.task), *_correlation(task.correlation), *shared, differing)
    return table


def _depth(comparison: Comparison) -> RenderableType:
    first, second = comparison.labels
    table = plain_table(
        ["task", "parts of\nthe depth", "rank\ncorrelation", "95 % interval", f"centre\n{first}", f"centre\n{second}",
         "difference", "95 % interval"]
    )  # fmt: skip
    for task in comparison.tasks:
        assert task.centres is not None
        centre, other, difference = task.centres
        table.add_row(
            Text(task.task), str(task.units), *_correlation(task.correlation), decimal(centre.value),
            decimal(other.value), signed(difference.value), interval(difference.low, difference.high, sign=True),
        )  # fmt: skip
    return table


def _correlation(estimate: Estimate) -> tuple[str, str]:
    return signed(estimate.value), interval(estimate.low, estimate.high, sign=True)


def _differing(comparison: Comparison) -> list[RenderableType]:
    """The heads that differ most of every task; nothing where none does."""
    tasks = [task for task in comparison.tasks if len(task.differing)]
    if not tasks:
        return []
    first, second = comparison.labels
    title = Text(f"Heads that differ beyond noise (q below {LEVEL:g} over all heads and tasks)", style="italic")
    table = plain_table(["task", "head", first, second, "difference", "95 % interval", "q"])
    for task in tasks:
        for cells in _rows(task):
            table.add_row(*cells)
    return [Text(""), title, table]


def _rows(task: ComparedTask) -> list[list[Text | str]]:
    rows: list[list[Text | str]] = []
    for row in task.differing.head(MOST).itertuples():
        values = (signed(value, DIGITS) for value in (row.first, row.second, row.difference))
        reach = interval(row.low, row.high, DIGITS, sign=True)
        rows.append([Text(task.task), head_name(row.layer, row.head), *values, reach, p_value(row.q_value)])
    if (more := len(task.differing) - MOST) > 0:
        rows.append([Text(""), f"and {more} more"])
    return rows
