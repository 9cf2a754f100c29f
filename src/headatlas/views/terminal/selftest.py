"""The outcome of a self-test, in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from headatlas.views.terminal.console import plain_table
from headatlas.wording import MISSING, decimal

if TYPE_CHECKING:
    from headatlas.planted.record import BarOutcome, Score, SelfTest

COLUMNS = ("model", "task", "heads", "AUROC", "AP", "recall", "wrong\nsigns", "wrong\nroles",
           "false", "flag")  # fmt: skip
CAPTION = (
    "heads: those that the method looks for, of all. AP: average precision. recall: of as many first heads. false: "
    "heads that do not matter and are said to. flag: the method's own check finds a wrong sign."
)
VERDICTS = {True: ("met", "green"), False: ("missed", "red"), None: ("not tried", "yellow")}


def selftest_tables(test: SelfTest) -> Iterator[RenderableType]:
    """A table per method with one row per task of a planted model, then the draws of the null model, then the bars."""
    for method in test.methods:
        table = plain_table(COLUMNS, names=2, title=f"Maps of models with known heads by {method}")
        for score in test.scores:
            if score.method == method:
                table.add_row(*map(Text, _cells(score)))
        yield table
        yield Text("")
    yield Text(CAPTION)
    for null in test.null:
        clean = null.draws - null.with_discovery
        yield Text(
            f"{null.method} discovers nothing in {clean} of {null.draws} draws of a model where no head matters."
        )
    yield Text("\nBars", style="italic")
    yield _bars(test.bars)


def _bars(bars: tuple[BarOutcome, ...]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column()
    for bar in bars:
        verdict, colour = VERDICTS[bar.met]
        grid.add_row(Text(verdict, colour), Text("\n  ".join((bar.says, *bar.missed_by))))
    return grid


def _cells(score: Score) -> list[str]:
    counts = (score.sign_errors, score.roles_wrong, score.false_discoveries)
    return [
        score.model, score.task, f"{score.positives} of {score.heads}",
        *map(decimal, (score.auroc, score.average_precision, score.recall)),
        *(MISSING if number is None else str(number) for number in counts),
        {True: "yes", False: "no", None: MISSING}[score.flagged],
    ]  # fmt: skip
