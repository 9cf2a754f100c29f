"""Where heads take over from each other, so that single effects say too little."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headatlas.stats import LEVEL
from headatlas.views.notes.note import Note
from headatlas.views.rows import only
from headatlas.wording import decimal, head_name, interval

if TYPE_CHECKING:
    import pandas as pd

    from headatlas.atlas.atlas import Atlas

METHOD = "repair"
SHOWN = 2  # heads of a task
NOT_ASKED = (
    "Heads were replaced one at a time. If a head has a backup, both look less important than they are: "
    f"`headatlas map --method {METHOD}` looks for backups."
)


def repair_note(atlas: Atlas) -> Note | None:
    """A warning for every task with heads that take over; None where no takeover is distinguishable from zero."""
    sentences = [sentence for task in atlas.tasks_of(METHOD) for sentence in _sentences(atlas, task)]
    if not sentences:
        return None
    general = "What is measured one head at a time says too little about such heads."
    return Note("Self-repair: heads that take over from each other", sentences=(*sentences, general))


def backups_not_asked(atlas: Atlas) -> list[str]:
    """What to say of a finished atlas with effects of single heads, none of whose methods looks for backups."""
    single = any(info.kind == "importance" and info.name != "sense" for info in atlas.run.methods)  # it removes many
    asked = any(measure.role == "backup" for info in atlas.run.methods for measure in info.measures)
    return [NOT_ASKED] if single and not asked and not atlas.run.pending else []


def _sentences(atlas: Atlas, task: str) -> list[str]:
    rows = atlas.table(task, METHOD)
    entries = only(atlas.diagnostics, method=METHOD, task=task)
    taking = rows[(rows["q_value"] < LEVEL) & (rows["value"] > 0)]
    sentences = []
    for row in taking.head(SHOWN).itertuples():
        values = _values(only(entries, layer=row.layer, head=row.head))
        leader = divmod(int(values["takes over from"]), atlas.shape[1])
        of_leader = _values(only(entries, layer=leader[0], head=leader[1]))
        sentences.append(
            f"{task}: {head_name(row.layer, row.head)} takes over where {head_name(*leader)} is missing. Without both "
            f"the task loses {decimal(values['effect of both'])} nats, {decimal(row.value)} "
            f"({interval(row.low, row.high)}) more than the sum of what it loses without each. Without "
            f"{head_name(*leader)} alone it loses {decimal(of_leader['total effect'])} in total, and would lose "
            f"{decimal(of_leader['direct effect'])} directly, if no other head reacted."
        )
    if sentences:
        of_set = _values(entries[entries["layer"].isna()])
        sentences.append(
            f"{task}: without all of the heads that were tried together it loses "
            f"{decimal(of_set['effect of all together'])} nats; their single effects sum to "
            f"{decimal(of_set['sum of single effects'])}."
        )
    return sentences


def _values(entries: pd.DataFrame) -> pd.Series:
    return entries.set_index("metric")["value"]
