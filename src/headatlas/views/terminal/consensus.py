"""The heads that several independent methods support, as a table."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from headatlas.patterns import Consensus
from headatlas.views.known_heads import known_heads_line
from headatlas.views.terminal.console import plain_table
from headatlas.wording import count, decimal, head_name, signed

DIGITS = 4
SUPPORTS = "*"


def consensus_table(consensus: Consensus, k: int, heads: int) -> Group:
    """The first k heads, with the value of every method and a mark where it supports the head; then its rule, and how
    it did where the truth is known.

    `heads` is the number of heads of the model.
    """
    witnesses = consensus.witnesses
    title = Text(f"{consensus.task}: heads that at least two independent causal methods support", style="italic")
    measures = [witness.info.measure(witness.info.primary) for witness in witnesses]
    columns = [f"{witness.info.name}\n{measure.label}" for witness, measure in zip(witnesses, measures, strict=True)]
    table = plain_table(["rank", "head", "methods", *columns], names=0)
    for row in consensus.rows(k).to_dict("records"):
        cells = [str(row["rank"]), head_name(row["layer"], row["head"]), str(row["methods"])]
        for witness, measure in zip(witnesses, measures, strict=True):
            name = witness.info.name
            value = (decimal if measure.zero_to_one else signed)(row[name], DIGITS)
            cells.append(value + (SUPPORTS if row[f"{name}_supports"] else " "))
        table.add_row(*cells)
    agreed = len(consensus.heads)
    shown = f"; the first {k} are shown" if agreed > k else ""
    summary = (
        f"{count(agreed, 'head')} of {heads}{shown}. As many picks at random would agree on about "
        f"{decimal(consensus.by_chance, 1)}."
    )
    rules = [
        Text(
            f"{SUPPORTS} {witness.info.name} ({witness.evidence}): {witness.criterion}; "
            f"{count(len(witness.supported), 'head')}.",
            style="dim",
        )
        for witness in witnesses
    ]
    records = [
        Text(f"{witness.info.name}: {known_heads_line(witness.info.name)}", style="dim") for witness in witnesses
    ]
    return Group(title, *([table] if agreed else []), Text(summary), *rules, *records, Text(""))
