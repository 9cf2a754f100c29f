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
from headatlas.wording import MISSING, count, head_list, listed, percent

if TYPE_CHECKING:
    import pandas as pd

    from headatlas.atlas.atlas import Atlas

COUNTS = ("examples attributed", "examples exact", "examples left out")
SHARES = ("variance left", "variance left, 30 largest", "same sign, 30 largest")
COLUMNS = ("task", "estimated", "exact", "left out", "variance left", "30 largest", "same sign")


def certificate_note(atlas: Atlas) -> Note | None:
    """One row per task; None where ablation has not reported any."""
    rows, races, runs, poor = [], [], {}, []
    for task, entries in by_task(only(atlas.diagnostics, method="ablate")):
        values = dict(zip(entries["metric"], entries["value"], strict=True))
        if "examples exact" in values:
            counts = [f"{values[name]:.0f}" if name in values else MISSING for name in COUNTS]
            rows.append((task, *counts, *(percent(values.get(name)) for name in SHARES)))
            poor += [task] if values.get("heads looked at") else []
        if FIRST_ASKED in values:
            runs[task] = values, entries
            races.append(_race_sentence(task, values, entries))
    if not rows:
        return None
    meaning = (
        "Estimated, exact, left out: examples. Exact are those on which every head was measured; heads that may matter "
        "were measured on more. Variance left: the part of the variance of exact effects that attribution does not "
        "explain, at the median head and among the 30 largest. Same sign: how often both have the same sign among "
        "these."
    )
    looks = (
        f"Attribution is poor in {listed(poor)}: there heads that may matter were also measured on the examples where "
        "their effects may be largest."
    )
    sentences = (meaning, *([looks] if poor else []), *races)
    return Note("How well attribution predicts exact effects", COLUMNS, tuple(rows), sentences, _lead(runs))


def _race_sentence(task: str, values: Mapping[str, float], entries: pd.DataFrame) -> str:
    """Which heads are the strongest for sure, which may be, what it took to say so, and what that rests on."""
    asked, settled, unsettled = (int(values[name]) for name in (FIRST_ASKED, FIRST_SETTLED, UNSETTLED))
    verb = "is" if asked == 1 else "are"
    if not unsettled:
        outcome = f"{_strongest(asked)} {verb} {_sure(values)}: {_heads(entries, AMONG_FIRST, asked)}"
    else:
        more = count(unsettled, "more head" if settled else "head", "more heads" if settled else "heads")
        outcome = (
            f"{_known(values, entries)}; {more} may be among them, first {_heads(entries, MAY_BE_FIRST, 6)}; a larger "
            "ablate.budget settles more"
        )
    allowed = count(int(values[ODD_ALLOWED]), "unseen example")
    return (
        f"{task}: {outcome}; {percent(values[EXACT_SHARE], 0)} of all exact effects were measured. This allows each "
        f"head {allowed} on which attribution is off by up to {values[ODD_ERROR]:.1f} nats."
    )


def _lead(runs: Mapping[str, tuple[Mapping[str, float], pd.DataFrame]]) -> str:
    """In how many tasks the race is settled, and one of them; or the task in which most heads are."""
    if not runs:
        return ""
    task = min(runs, key=lambda name: (runs[name][0][UNSETTLED] > 0, -runs[name][0][FIRST_SETTLED]))
    values, entries = runs[task]
    if values[UNSETTLED]:
        return f"{'no race is settled; ' if len(runs) > 1 else ''}{task}: {_known(values, entries)}."
    asked, settled = int(values[FIRST_ASKED]), sum(not other[UNSETTLED] for other, _ in runs.values())
    said = f"{_strongest(asked)} {'is' if asked == 1 else 'are'} {_sure(values)}"
    heads = f"{_heads(entries, AMONG_FIRST, asked)}."
    return f"{said} in {settled} of {len(runs)} tasks; {task}: {heads}" if len(runs) > 1 else f"{task}: {said}: {heads}"


def _strongest(asked: int) -> str:
    return f"the {asked} strongest heads" if asked > 1 else "the strongest head"


def _sure(values: Mapping[str, float]) -> str:
    return f"settled at {percent(values[FIRST_CONFIDENCE], 0)}"


def _known(values: Mapping[str, float], entries: pd.DataFrame) -> str:
    """How many of the strongest heads are settled, and which."""
    asked, settled = int(values[FIRST_ASKED]), int(values[FIRST_SETTLED])
    if not settled:
        return f"{'none of ' if asked > 1 else ''}{_strongest(asked)} is {'' if asked > 1 else 'not '}{_sure(values)}"
    verb = "is" if settled == 1 else "are"
    return f"{settled} of {_strongest(asked)} {verb} {_sure(values)} ({_heads(entries, AMONG_FIRST, asked)})"


def _heads(entries: pd.DataFrame, metric: str, most: int) -> str:
    rows = entries[entries["metric"] == metric]
    return head_list([(int(layer), int(head)) for layer, head in zip(rows["layer"], rows["head"], strict=True)], most)
