"""How sure the maps are: intervals, methods that agree, certificates, and what new examples would give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from headatlas.errors import HeadAtlasError
from headatlas.patterns import consensus_tasks, find_consensus
from headatlas.patterns.consensus import Witness
from headatlas.stats import LEVEL
from headatlas.views.known_heads import known_heads_line
from headatlas.views.report.markdown import bullets, plain, table
from headatlas.views.report.methods import diagnostics_lines, notes_lines
from headatlas.views.report.patterns import agreement_lines, found_again_lines, stability_lines
from headatlas.wording import decimal, head_list

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas


def sure_chapter(atlas: Atlas, method: str) -> list[str]:
    lines = [
        *_intervals(atlas, method),
        *_consensus(atlas),
        *notes_lines(atlas),
        *agreement_lines(atlas),
        *found_again_lines(atlas),
        *stability_lines(atlas),
        *diagnostics_lines(atlas),
    ]
    return ["## How sure", *lines] if lines else []


def _intervals(atlas: Atlas, method: str) -> list[str]:
    """How many heads of each task can be told from zero, where the method gives q."""
    tables = {task: atlas.table(task, method) for task in atlas.tasks_of(method)}
    sure = [_distinguishable(task, heads) for task, heads in tables.items() if heads["q_value"].notna().any()]
    title = f"### Heads of {plain(method)} that are distinguishable from zero (q below {LEVEL:g})"
    return [title, bullets(sure)] if sure else []


def _distinguishable(task: str, heads: pd.DataFrame) -> str:
    sure = heads[heads["q_value"] < LEVEL]
    hurt = int((sure["value"] < 0).sum())
    return (
        f"{plain(task)}: {len(sure)} of {len(heads)} heads are distinguishable from zero"
        f"{f', {hurt} of them with values below zero' if hurt else ''}."
    )


def _consensus(atlas: Atlas) -> list[str]:
    """How many heads at least two independent methods support, and how many that would be by chance."""
    try:
        found = [find_consensus(atlas, task) for task in consensus_tasks(atlas)]
    except HeadAtlasError:  # fewer than two causal methods: nothing to compare
        return []
    rows = [
        (plain(one.task), ", ".join(f"{plain(w.info.name)} {len(w.supported)}" for w in one.witnesses), len(one.heads),
         decimal(one.by_chance, 1), head_list(one.heads))
        for one in found
    ]  # fmt: skip
    rules = {w.info.name: _rule(w) for one in found for w in one.witnesses}
    headings = ("task", "heads supported by each method", "by at least two (heads)", "by chance (heads)", "which")
    return [
        "### Heads that at least two independent causal methods support",
        "Each method by its own rule, and how it did where the truth is known:",
        bullets(rules.values()),
        table(headings, rows),
    ]


def _rule(witness: Witness) -> str:
    """When a method supports a head, and how it did where the truth is known."""
    info = witness.info
    return f"{plain(info.name)} ({plain(witness.evidence)}): {plain(witness.criterion)}. {known_heads_line(info.name)}"
