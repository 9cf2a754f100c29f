"""What an atlas does not show: functions without heads, tasks at chance, statements without support, limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from headatlas.atlas.records import COMPETENT
from headatlas.patterns.functions import function_counts, head_functions, specific_method
from headatlas.stats import FEWEST_GROUPS, too_few_groups
from headatlas.views.notes.repair import backups_not_asked
from headatlas.views.report.markdown import bullets, plain
from headatlas.views.report.patterns import unsupported_lines
from headatlas.views.rounding import rounding_warning
from headatlas.wording import count

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.patterns import Finding

FEW_GROUPS = 30


def not_shown_chapter(atlas: Atlas, method: str, findings: Sequence[Finding]) -> list[str]:
    limits = [
        *_without_heads(atlas), *_unable(atlas), *_doubted(atlas), *_unmeasured(atlas), *_few_groups(atlas, method),
        *backups_not_asked(atlas), *_audit(atlas),
    ]  # fmt: skip
    if warning := rounding_warning(atlas):
        limits.append(warning)
    if atlas.evidence.empty:
        limits.append("No intervention has tested these maps yet: `headatlas verify` does.")
    lines = [bullets(limits), *unsupported_lines(findings)]
    return ["## What is not shown", *lines] if any(lines) else []


def _without_heads(atlas: Atlas) -> list[str]:
    """The functions for which no head is specific."""
    method = specific_method(atlas)
    if method is None:
        return []
    counts = function_counts(head_functions(atlas, method), atlas.tasks_of(method))
    empty = [plain(task) for task, heads in counts.items() if not heads]
    if not empty:
        return []
    return [
        f"No head is shown to be specifically for {', '.join(empty)}. That is no proof that there is none: heads may "
        "serve other tasks as well, replace each other, or be too weak for so few examples."
    ]


def _unable(atlas: Atlas) -> list[str]:
    unable = [plain(task) for task, verdict in atlas.verdicts.items() if verdict != COMPETENT]
    return [f"Nothing can be said about {', '.join(unable)}: the intact model is not shown to do it."] if unable else []


def _doubted(atlas: Atlas) -> list[str]:
    """Maps that failed the check of their own method."""
    return [
        f"The map of {plain(task)} by {plain(method)} is not to be read: {why}."
        for method, by_task in atlas.run.doubts.items()
        for task, why in by_task.items()
    ]


def _unmeasured(atlas: Atlas) -> list[str]:
    """One sentence for every method that did not measure all heads."""
    every = atlas.shape[0] * atlas.shape[1]
    by_map = atlas.scores.groupby(["method", "task"], sort=False).apply(_heads, include_groups=False)
    sentences = []
    for name, heads in by_map.groupby("method", sort=False):
        if heads.min() < every:
            measured = f"{heads.min()}" if heads.min() == heads.max() else f"{heads.min()} to {heads.max()}"
            sentences.append(
                f"{plain(name)} measured {measured} of {every} heads; the others are unknown, not unimportant."
            )
    return sentences


def _heads(rows: pd.DataFrame) -> int:
    return len(rows[["layer", "head"]].drop_duplicates())


def _few_groups(atlas: Atlas, method: str) -> list[str]:
    groups = atlas.scores[(atlas.scores["method"] == method) & atlas.scores["stderr"].notna()]
    groups = groups.groupby("task", sort=False)["groups"].min()
    if not len(groups) or groups.min() >= FEW_GROUPS:
        return []
    without = [plain(task) for task, number in groups.items() if too_few_groups(number)]
    if without:
        return [
            f"{plain(method)} gives neither intervals nor p for {', '.join(without)}: fewer than {FEWEST_GROUPS} "
            "groups of examples."
        ]
    return [
        f"The errors of {plain(method)} rest on few groups of examples: {groups.min()} for {plain(groups.idxmin())}. "
        "Effects that are not distinguishable from zero may still be there."
    ]


def _audit(atlas: Atlas) -> list[str]:
    """What the texts of the suite give away, counted; the page and `headatlas suite audit` show every check."""
    bad, warnings = (sum(check.verdict == verdict for check in atlas.run.audit) for verdict in ("bad", "warning"))
    if not bad and not warnings:
        return []
    return [
        f"Of {count(len(atlas.run.audit), 'check')} of the suite's texts {bad} are bad and {warnings} are warnings: "
        "the tasks may differ in more than their function. `headatlas suite audit` lists them."
    ]
