"""Notes: what is worth saying about one method beside its maps, in words and tables.

A note is a function of an atlas, in a module named after its method, with one line here; terminal, report and page
show whatever it returns. Notes and the registry of figures are the only parts of the views that know a method by name.
Everything else that views say about a method comes from its declaration.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from headatlas.registry import Registry
from headatlas.views.notes.note import Note

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

__all__ = ["NOTES", "Note", "lead_of", "method_notes"]

NOTES: Registry[Callable[[Atlas], Note | None]] = Registry(
    "note of a method",
    {
        "ablate": "headatlas.views.notes.ablate:certificate_note",
        "attribute": "headatlas.views.notes.attribute:signs_note",
        "probe": "headatlas.views.notes.probe:accuracy_note",
        "gate": "headatlas.views.notes.gate:circuits_note",
        "repair": "headatlas.views.notes.repair:repair_note",
        "sense": "headatlas.views.notes.sense:masks_note",
    },
)


def method_notes(atlas: Atlas) -> list[Note]:
    """The notes of all methods of an atlas that have one."""
    notes = [NOTES[info.name](atlas) for info in atlas.run.methods if info.name in NOTES]
    return [note for note in notes if note is not None]


def lead_of(atlas: Atlas, method: str) -> str:
    """What the note of a method says first of all; empty for most."""
    note = NOTES[method](atlas) if method in NOTES else None
    return note.lead if note else ""
