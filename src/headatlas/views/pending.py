"""What an atlas that still grows says of itself."""

from __future__ import annotations

from headatlas.atlas.run_record import RunRecord


def pending_words(run: RunRecord) -> str:
    """What is still to come, and that findings wait for it: p-values hold for one look at all maps, not for one after
    every method. Empty for a finished atlas."""
    return f"{run.still_to_come} Findings come at the end, from all maps together." if run.pending else ""
