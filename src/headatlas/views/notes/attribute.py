"""Where attribution has the wrong sign, by its own check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headatlas.views.notes.note import Note
from headatlas.views.rows import by_task, only
from headatlas.wording import head_name, interval, signed

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

WRONG_SIGN = "exact effect of a wrong sign"


def signs_note(atlas: Atlas) -> Note | None:
    """One sentence per head whose exact effect has the other sign; None where the check found none."""
    sentences = []
    for task, rows in by_task(only(atlas.diagnostics, method="attribute", metric=WRONG_SIGN)):
        values = atlas.grid(task, "attribute")
        for row in rows.itertuples():
            layer, head = int(row.layer), int(row.head)
            sentences.append(
                f"{task}: {head_name(layer, head)} has {signed(values[layer, head])} by attribution, but "
                f"{signed(row.value)} ({interval(row.low, row.high, sign=True)}) when it is measured exactly. "
                "Attention is saturated there or the effect is far from linear: believe ablation."
            )
    return Note("Attribution has wrong signs", sentences=tuple(sentences)) if sentences else None
