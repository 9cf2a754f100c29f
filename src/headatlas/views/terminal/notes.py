"""The notes of methods, in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from headatlas.views.notes import method_notes
from headatlas.views.terminal.console import plain_table

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas


def note_tables(atlas: Atlas) -> list[RenderableType]:
    """One table or list for every method that has a note; nothing for the others."""
    shown: list[RenderableType] = []
    for note in method_notes(atlas):
        shown.append(Text(""))
        if note.rows:
            table = plain_table(note.columns, title=note.title)
            for row in note.rows:
                table.add_row(*map(Text, row))
            shown.append(table)
        if note.sentences:
            shown += [] if note.rows else [Text(note.title, style="italic")]
            shown += [Text(sentence) for sentence in note.sentences]
    return shown
