"""Which heads several causal methods support, with the record of each method, for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headatlas.errors import HeadAtlasError
from headatlas.patterns import consensus_tasks, find_consensus
from headatlas.views.known_heads import known_heads_line
from headatlas.wording import decimal, head_list

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas


def describe_consensus(atlas: Atlas) -> dict[str, Any] | None:
    """One row per task, and each method's rule and record; None with fewer than two independent causal methods."""
    try:
        agreed = [find_consensus(atlas, task) for task in consensus_tasks(atlas)]
    except HeadAtlasError:
        return None
    witnesses = {witness.info.name: witness for one in agreed for witness in one.witnesses}
    return {
        "columns": [*witnesses, "at least two", "by chance", "which"],
        "rows": [
            [one.task, *(_supported(one.witnesses, name) for name in witnesses), str(len(one.heads)),
             decimal(one.by_chance, 1), head_list(one.heads)]
            for one in agreed
        ],
        "methods": [
            {"name": name, "rule": f"{witness.evidence}; supports a head by {witness.criterion}",
             "record": known_heads_line(name)}
            for name, witness in witnesses.items()
        ],
    }  # fmt: skip


def _supported(witnesses: Any, name: str) -> str:
    return next((str(len(witness.supported)) for witness in witnesses if witness.info.name == name), "–")
