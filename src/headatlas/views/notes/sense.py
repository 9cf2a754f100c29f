"""How well random masks are explained by which heads they remove, and which heads back up which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headatlas.views.notes.note import Note
from headatlas.views.rows import by_task, only, single
from headatlas.wording import decimal, head_name, interval

if TYPE_CHECKING:
    import pandas as pd

    from headatlas.atlas.atlas import Atlas

METHOD = "sense"
SHOWN = 3  # pairs of a task
COLUMNS = ("task", "masks", "heads per mask", "mean loss", "held-out R2")
ALONE, BOTH = "effect alone", "effect with "  # the name of the other head follows, also below
EACH_OTHER, BACKS_UP = "backs up and is backed up by ", "backs up "


def masks_note(atlas: Atlas) -> Note | None:
    """One row per task, and a sentence for pairs of which one backs up the other; None where no masks were tried."""
    rows, sentences = [], []
    for task, entries in by_task(only(atlas.diagnostics, method=METHOD)):
        of_task = entries[entries["layer"].isna()]
        values = dict(zip(of_task["metric"], of_task["value"], strict=True))
        if "masks" not in values:
            continue
        rows.append(
            (
                task, f"{values['masks']:.0f}", decimal(values["heads per mask"], 1),
                decimal(values["mean loss under masks"]), decimal(values["held-out R2"]),
            )
        )  # fmt: skip
        sentences += _pairs(task, entries)
    if not rows:
        return None
    meaning = (
        "Mean loss: nats that the task loses under a mask, on average. Held-out R2: the part of the differences "
        "between masks that a regression on other masks and other examples predicts from which heads are missing. "
        "The rest is noise, or heads whose effects do not add up."
    )
    return Note("Random masks of heads", COLUMNS, tuple(rows), (meaning, *sentences))


def _pairs(task: str, entries: pd.DataFrame) -> list[str]:
    """The strongest pairs first; that there are none, where heads were removed two by two."""
    pairs = entries[entries["metric"].str.startswith(BACKS_UP)].sort_values("value", ascending=False, kind="stable")
    removed = len(only(entries, metric=ALONE))
    if pairs.empty and removed:
        return [f"{task}: none of the first {removed} heads is shown to back up another of them."]
    alone = {
        head_name(int(row.layer), int(row.head)): decimal(row.value) for row in only(entries, metric=ALONE).itertuples()
    }
    sentences = []
    for row in pairs.head(SHOWN).itertuples():
        each_other = row.metric.startswith(EACH_OTHER)
        other = row.metric.removeprefix(EACH_OTHER if each_other else BACKS_UP)
        head = head_name(int(row.layer), int(row.head))
        both = single(entries, metric=f"{BOTH}{other}", layer=row.layer, head=row.head)
        said = f"{head} and {other} back each other up" if each_other else f"{head} backs up {other}"
        sentences.append(
            f"{task}: {said}. Without {head} alone the task loses {alone[head]} nats, without {other} alone "
            f"{alone[other]}; without both {decimal(both)}, which is {decimal(row.value)} "
            f"({interval(row.low, row.high)}) more than the sum."
        )
    return sentences
