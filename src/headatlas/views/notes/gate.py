"""How far the fits of gates agree on the heads that a task needs, and where their masks are not to be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from headatlas.views.notes.note import Note
from headatlas.views.rows import by_task, only
from headatlas.wording import decimal

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas


def circuits_note(atlas: Atlas) -> Note | None:
    """One sentence per task; None where no circuits were compared."""
    sentences = []
    for task, rows in by_task(only(atlas.diagnostics, method="gate")):
        values = {str(metric): entries["value"].tolist() for metric, entries in rows.groupby("metric")}
        if "circuit_size" in values:
            doubt = atlas.run.doubts.get("gate", {}).get(task)
            sentences.append(_doubted(task, doubt, values) if doubt else _sentence(task, values))
            sentences += _stability(task, values, atlas.shape[0] * atlas.shape[1])
    return Note("Circuits that gates found", sentences=tuple(sentences)) if sentences else None


def _sentence(task: str, values: Mapping[str, Sequence[float]]) -> str:
    sizes = values["circuit_size"]
    sufficient, disjoint = int(values["sufficient_sets"][0]), int(values["disjoint_sufficient_sets"][0])
    several = len(sizes) > 1
    heads = f"{min(sizes):.0f} to {max(sizes):.0f}" if several else f"{sizes[0]:.0f}"
    sentence = f"{task}: {f'{len(sizes)} fits' if several else 'one fit'}, urged to close, with {heads} heads left open"
    if several:
        sentence += (
            f", {values['shared_by_all'][0]:.0f} of them in every fit; two fits share "
            f"{decimal(values['jaccard_mean'][0])} of the heads of either, {decimal(values['jaccard_chance'][0])} by "
            "chance"
        )
    apart = f"{disjoint} of them share no head" if disjoint > 1 else "no two of them are disjoint"
    alone = "is sufficient by itself" if sufficient == 1 else "are sufficient by themselves"
    alone = f"{sufficient} of {len(sizes)} {alone}" + (f", {apart}" if sufficient > 1 else "")
    return f"{sentence}. {alone}."


def _doubted(task: str, doubt: str, values: Mapping[str, Sequence[float]]) -> str:
    costs = [*values.get("plus_mean_binary_cost", ()), *values.get("minus_mean_binary_cost", ())]
    most = f" (binarising costs {decimal(max(costs))} nats, and may cost more by its interval)" if costs else ""
    return f"{task}: {doubt}{most}; its roles are not to be read."


def _stability(task: str, values: Mapping[str, Sequence[float]], heads: int) -> list[str]:
    """How many heads change their role, where that was measured."""
    ways = {
        "role_changes_seeds": "from one seed to another on average",
        "role_changes_start": "from another start",
        "role_changes_steps": "with twice the steps",
    }
    changes = [f"{decimal(values[metric][0], 0)} {way}" for metric, way in ways.items() if metric in values]
    return [f"{task}, heads of {heads} that change their role: {', '.join(changes)}."] if changes else []
