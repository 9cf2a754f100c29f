"""Where heads take over from each other, so that single effects say too little."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headatlas.stats import LEVEL
from headatlas.views.notes.note import Note
from headatlas.views.rows import only
from headatlas.wording import decimal, head_name, interval, signed

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

METHOD = "repair"
SHOWN = 2  # heads of a task


def repair_note(atlas: Atlas) -> Note | None:
    """A warning for every task with heads that take over; None where no takeover is distinguishable from zero."""
    sentences = [sentence for task in atlas.tasks_of(METHOD) for sentence in _sentences(atlas, task)]
    if not sentences:
        return None
    general = "What is measured one head at a time says too little about such heads."
    return Note("Heads that take over from each other", sentences=(*sentences, general))


def _sentences(atlas: Atlas, task: str) -> list[str]:
    rows = atlas.table(task, METHOD)
    entries = only(atlas.diagnostics, method=METHOD, task=task)
    sentences = []
    for row in rows[(rows["q_value"] < LEVEL) & (rows["value"] > 0)].head(SHOWN).itertuples():
        values = only(entries, layer=row.layer, head=row.head).set_index("metric")["value"]
        leader = divmod(int(values["takes over from"]), atlas.shape[1])
        of_leader = only(entries, layer=leader[0], head=leader[1]).set_index("metric")["value"]
        sentences.append(
            f"{task}: {head_name(row.layer, row.head)} takes over where {head_name(*leader)} is missing. Without both "
            f"the task loses {decimal(values['effect of both'])} nats, {signed(row.value)} "
            f"({interval(row.low, row.high, sign=True)}) beyond the sum of what it loses without each. "
            f"{head_name(*leader)} alone: {decimal(of_leader['total effect'])} in total, "
            f"{decimal(of_leader['direct effect'])} where no other head reacts."
        )
    return sentences
