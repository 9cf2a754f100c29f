"""Which examples go into which split, and from which tasks and items a map is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from headatlas.atlas.records import COMPETENT, TOO_FEW_KNOWN, Competence
from headatlas.errors import HeadAtlasError
from headatlas.run.context import RunContext
from headatlas.suites.example import Example
from headatlas.suites.suite import SPLITS, Suite

FEWEST_EXAMPLES = 12  # of a task; with fewer nothing could be said about errors, so no map is made
HELD_OUT = "evaluate"  # chooses and fits nothing; methods and tests report on it


def split_examples(suite: Suite, limits: Mapping[str, int] | None, seed: int) -> dict[str, Suite]:
    """The splits of a suite, each cut down to its limit; refused where nothing could be said about errors."""
    for task in suite.tasks:
        if (count := len(suite.of(task))) < FEWEST_EXAMPLES:
            raise HeadAtlasError(
                f"Task {task!r} has {count} examples; a map needs at least {FEWEST_EXAMPLES} of every task."
            )
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
    context: RunContext, entries: list[Competence], known: set[str], at_chance: bool, known_only: bool
) -> tuple[list[Competence], RunContext]:
    """Leave out what a map would say nothing about: tasks at chance, and with `known_only` items the model fails.

    Items of HELD_OUT stay, known or not: had the known ones been selected there, the intact model would be right by
    construction, and whatever a method does to it would look like damage.
    """

    def usable(example: Example, split: str) -> bool:
        return example.id in known or not known_only or split == HELD_OUT

    judged, mapped = [], set()
    for entry in entries:
        chosen = {split: [e for e in context.examples(entry.task, split) if usable(e, split)] for split in SPLITS}
        items = [example for examples in chosen.values() for example in examples]
        right = [example for example in items if example.id in known or not known_only]
        if entry.verdict != COMPETENT and not at_chance:
            entry = replace(entry, mapped=0)
        elif len(right) < FEWEST_EXAMPLES or any(len({e.group for e in part}) < 2 for part in chosen.values()):
            entry = replace(entry, mapped=0, verdict=TOO_FEW_KNOWN)
        else:
            entry = replace(entry, mapped=len(items))
            mapped.add(entry.task)
        if not entry.mapped:
            numbers = f"accuracy {entry.accuracy:.2f}, chance {entry.chance:.2f}"
            context.say(f"{entry.task} is not mapped: {entry.verdict} ({numbers}).")
        judged.append(entry)
    if not mapped:
        raise HeadAtlasError(
            f"{context.model.name} is at chance on every task, or knows too few items of it; a map would mean nothing. "
            "Map all the same with `at_chance`, or use easier tasks."
        )

    def remains(split: str, example: Example) -> bool:
        return example.task in mapped and usable(example, split)

    splits = {split: suite.keep(partial(remains, split)) for split, suite in context.splits.items()}
    return judged, context.with_splits(splits)
