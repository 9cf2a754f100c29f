"""How far the certificate of ablation can be trusted: how much was exact, how well attribution predicts it, and which
heads a race has settled to be the strongest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from headatlas.atlas.records import (
    AMONG_FIRST,
    EXACT_SHARE,
    FIRST_ASKED,
    FIRST_CONFIDENCE,
    FIRST_SETTLED,
    MAY_BE_FIRST,
    ODD_ALLOWED,
    ODD_ERROR,
    UNSETTLED,
)
from headatlas.views.notes.note import Note
from headatlas.views.rows import by_task, only
from headatlas.wording import MISSING, count, head_list, percent

if TYPE_CHECKING:
    import pandas as pd

    from headatlas.atlas.atlas import Atlas

COUNTS = ("examples attributed", "examples exact", "examples left out")
SHARES = ("variance left", "variance left, 30 largest", "same sign, 30 largest")
COLUMNS = ("task", "estimated", "exact", "left out", "variance left", "30 largest", "same sign")


def certificate_note(atlas: Atlas) -> Note | None:
    """One row per task; None where ablation has not reported any."""
    rows, races = [], []
    for task, entries in by_task(only(atlas.diagnostics, method="ablate")):
        values = dict(zip(entries["metric"], entries["value"], strict=True))
        if "examples exact" in values:
            counts = [f"{values[name]:.0f}" if name in values else MISSING for name in COUNTS]
            rows.append((task, *counts, *(percent(values.get(name)) for name in SHARES)))
        if FIRST_ASKED in values:
            races.append(_race_sentence(task, values, entries))
    if not rows:
        return None
    meaning = (
        "Estimated, exact, left out: examples. Exact are those on which every head was measured; heads that may matter "
        "were measured on more. Variance left: the part of the variance of exact effects that attribution does not "
        "explain, at the median head and among the 30 largest. Same sign: how often both have the same sign among "
        "these."
    )
    return Note("How well attribution predicts exact effects", COLUMNS, tuple(rows), (meaning, *races))


def _race_sentence(task: str, values: Mapping[str, float], entries: pd.DataFrame) -> str:
    """Which heads are the strongest for sure, which may be, what it took to say so, and what that rests on."""
    asked, settled, unsettled = (int(values[name]) for name in (FIRST_ASKED, FIRST_SETTLED, UNSETTLED))
    number = f"the {count(asked, 'strongest head', 'strongest heads')}" if asked > 1 else "the strongest head"
    verb = "is" if asked == 1 else "are"
    sure = f"settled at {percent(values[FIRST_CONFIDENCE], 0)}"
    if not unsettled:
        outcome = f"{number} {verb} {sure}: {_heads(entries, AMONG_FIRST, asked)}"
    else:
        known = f"{settled} of {number} {'is' if settled == 1 else 'are'} {sure}"
        names = f" ({_heads(entries, AMONG_FIRST, asked)})" if settled else ""
        outcome = (
            f"{known}{names}; {count(unsettled, 'more head', 'more heads')} may be among them, first "
            f"{_heads(entries, MAY_BE_FIRST, 6)}; a larger ablate.budget settles more"
        )
    allowed = count(int(values[ODD_ALLOWED]), "unseen example")
    return (
        f"{task}: {outcome}; {percent(values[EXACT_SHARE], 0)} of all exact effects were measured. This allows each "
        f"head {allowed} on which attribution is off by up to {values[ODD_ERROR]:.1f} nats."
    )


def _heads(entries: pd.DataFrame, metric: str, most: int) -> str:
    rows = entries[entries["metric"] == metric]
    return head_list([(int(layer), int(head)) for layer, head in zip(rows["layer"], rows["head"], strict=True)], most)
