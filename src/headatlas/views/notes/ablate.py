"""How far the certificate of ablation can be trusted: how much was exact, and how well attribution predicts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headatlas.views.notes.note import Note
from headatlas.views.rows import by_task, only
from headatlas.wording import MISSING, percent

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

COUNTS = ("examples attributed", "examples exact", "examples left out")
SHARES = ("variance left", "variance left, 30 largest", "same sign, 30 largest")
COLUMNS = ("task", "estimated", "exact", "left out", "variance left", "30 largest", "same sign")


def certificate_note(atlas: Atlas) -> Note | None:
    """One row per task; None where ablation has not reported any."""
    rows = []
    for task, entries in by_task(only(atlas.diagnostics, method="ablate")):
        values = dict(zip(entries["metric"], entries["value"], strict=True))
        if "examples exact" in values:
            counts = [f"{values[name]:.0f}" if name in values else MISSING for name in COUNTS]
            rows.append((task, *counts, *(percent(values.get(name)) for name in SHARES)))
    if not rows:
        return None
    meaning = (
        "Estimated, exact, left out: examples; the strongest heads are exact on all. Variance left: the part of the "
        "variance of exact effects that attribution does not explain, at the median head and among the 30 largest. "
        "Same sign: how often both have the same sign among these."
    )
    return Note("How well attribution predicts exact effects", COLUMNS, tuple(rows), (meaning,))
