"""Tables of evidence: one for every test, by the shape of its outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from headatlas.views.metrics import metric
from headatlas.views.rows import Outcome, outcomes
from headatlas.views.terminal.evidence_change import change_table
from headatlas.views.terminal.evidence_curve import curve_table, recovery_table
from headatlas.views.terminal.evidence_matrix import matrix_table

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

TABLES: dict[str, Callable[[Outcome], Table | None]] = {
    "curve": curve_table,
    "recovery": recovery_table,
    "matrix": matrix_table,
    "change": change_table,
}


def evidence_tables(atlas: Atlas, method: str) -> list[RenderableType]:
    """One short table for each test of this method's maps that was run, under its title and its question."""
    shown: list[RenderableType] = []
    for outcome in outcomes(atlas, method):
        table = TABLES[outcome.test.shape](outcome)
        if table is not None:
            shown += [*_heading(outcome), table, Text("")]
    return shown


def _heading(outcome: Outcome) -> list[Text]:
    test = outcome.test
    measured = metric(test.headline)
    number = f"{measured.label}{f' in {measured.unit}' if measured.unit else ''}"
    kind = number if test.shape == "recovery" else f"changes of {number}"
    several = test.shape in ("curve", "recovery") or outcome.most_heads is None
    heads = "Heads" if several else f"{outcome.most_heads} {test.axis}, chosen"
    return [
        Text(f"{test.title} ({test.name})", style="bold"),
        Text(test.question),
        Text(f"{heads} by {outcome.chosen_by}; numbers are {kind}.", style="dim"),
    ]
