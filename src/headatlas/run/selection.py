"""Which examples are split where, and which tasks and items a map is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from headatlas.atlas.verdicts import COMPETENT, TOO_FEW_KNOWN
from headatlas.errors import HeadAtlasError
from headatlas.run.competence import Competence
from headatlas.run.context import Work
from headatlas.suites.suite import SPLITS, Suite

MINIMUM = 12  # examples of a task below which no map is made: nothing could be said about its errors


def split_examples(suite: Suite, limits: Mapping[str, int] | None, seed: int) -> dict[str, Suite]:
    """The splits of a suite, each cut down to its limit; refused where nothing could be said about errors."""
    for task in suite.tasks:
        if (count := len(suite.of(task))) < MINIMUM:
            raise HeadAtlasError(f"Task {task!r} has {count} examples; a map needs at least {MINIMUM} of every task.")
    splits = suite.split(seed)
    if limits is not None:
        splits = {split: splits[split].limit(limits[split], seed) for split in SPLITS}
    for task in suite.tasks:
        for split, part in splits.items():
            if len({example.group for example in part.of(task)}) < 2:
                raise HeadAtlasError(
                    f"Task {task!r} has fewer than 2 groups in its {split!r} split, so no error could be estimated. "
                    "Use smaller groups, or more of them."
                )
    return splits


def select(
    work: Work, found: list[Competence], known: set[str], at_chance: bool, known_only: bool
) -> tuple[list[Competence], Work]:
    """Leave out what a map would say nothing about: tasks at chance, and with `known_only` items the model fails."""
    judged, mapped = [], set()
    for entry in found:
        usable = [
            [e.group for e in work.examples(entry.task, split) if e.id in known or not known_only] for split in SPLITS
        ]
        kept = sum(map(len, usable))
        if entry.verdict != COMPETENT and not at_chance:
            entry = replace(entry, kept=0)
        elif kept < MINIMUM or any(len(set(groups)) < 2 for groups in usable):
            entry = replace(entry, kept=0, verdict=TOO_FEW_KNOWN)
        else:
            entry = replace(entry, kept=kept)
            mapped.add(entry.task)
        if not entry.kept:
            numbers = f"accuracy {entry.accuracy:.2f}, chance {entry.chance:.2f}"
            work.runner.reporter.say(f"{entry.task} is not mapped: {entry.verdict} ({numbers}).")
        judged.append(entry)
    if not mapped:
        raise HeadAtlasError(
            f"{work.model.name} is at chance on every task, or knows too few items of it; a map would mean nothing. "
            "Map all the same with --at-chance, or use easier tasks."
        )
    splits = {
        split: suite.keep(lambda e: e.task in mapped and (e.id in known or not known_only))
        for split, suite in work.splits.items()
    }
    return judged, work.restricted(splits)
