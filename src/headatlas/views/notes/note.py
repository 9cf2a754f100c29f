"""What a note holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """A heading with sentences, a table, or both. Names of tasks stand as they are: each view escapes what it must.

    `lead` is said when the method is done, in place of what its maps show, where a run has asked for something else.
    """

    title: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    sentences: tuple[str, ...] = ()
    lead: str = ""
