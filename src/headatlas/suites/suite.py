"""A suite: examples of several tasks, split by group into fit, choose and evaluate."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from headatlas.errors import HeadAtlasError, unknown
from headatlas.suites.example import Example

# What each split is for: `fit` nominates heads and estimates baselines, `choose` measures and tunes what was
# nominated, `evaluate` never chooses or measures a head: it is left to test a finished map.
SHARES = {"fit": 0.4, "choose": 0.3, "evaluate": 0.3}
SPLITS = tuple(SHARES)
MAPPED, HELD_OUT = ("fit", "choose"), ("evaluate",)  # what maps are made from, and what tests them


def rank(seed: int, text: str) -> str:
    """A fixed pseudo-random order that does not depend on the order of the file."""
    return hashlib.sha256(f"{seed}:{text}".encode()).hexdigest()


@dataclass(frozen=True)
class Knowledge:
    """What is known about the tasks of a suite beyond their examples, so that no other code has to name a task.

    Tasks are named as in the examples. A name may be of a task that the suite does not hold, such as one that was left
    out of a run: look for those that it does hold.
    """

    low_level: tuple[str, ...] = ()  # tasks whose results other tasks build on
    high_level: tuple[str, ...] = ()  # tasks that build on low-level ones
    showcase: tuple[str, ...] = ()  # tasks to take first when a method can afford only a few
    answer_in_prompt: tuple[str, ...] = ()  # tasks whose prompts are meant to contain the answer
    answer_not_in_prompt: tuple[str, ...] = ()  # tasks whose prompts must not contain it


@dataclass(frozen=True)
class Suite:
    """A named set of examples. Ids are unique; tasks keep the order in which they first appear."""

    name: str
    examples: tuple[Example, ...]
    knowledge: Knowledge = Knowledge()

    def __post_init__(self) -> None:
        if not self.examples:
            raise HeadAtlasError(f"Suite {self.name!r} has no examples.")
        repeated = [key for key, count in Counter(e.id for e in self.examples).items() if count > 1]
        if repeated:
            raise HeadAtlasError(f"Suite {self.name!r} uses the id {repeated[0]!r} more than once; ids must be unique.")

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(example.task for example in self.examples))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of every field of every example, in order. The name and the knowledge do not count."""
        digest = hashlib.sha256()
        for example in self.examples:
            digest.update(example.model_dump_json().encode() + b"\n")
        return digest.hexdigest()[:16]

    def of(self, task: str) -> tuple[Example, ...]:
        """The examples of one task."""
        return tuple(example for example in self.examples if example.task == task)

    def only(self, tasks: Iterable[str]) -> Suite:
        """The suite restricted to the named tasks, in its own order.

        Case is ignored unless two tasks differ in nothing else.
        """
        folded = {task.casefold(): task for task in self.tasks}
        wanted = set()
        for name in tasks:
            if name not in self.tasks and name.casefold() not in folded:
                raise unknown("task", name, self.tasks)
            wanted.add(name if name in self.tasks else folded[name.casefold()])
        return self.keep(lambda example: example.task in wanted)

    def keep(self, wanted: Callable[[Example], bool]) -> Suite:
        """The suite restricted to the examples for which `wanted` is true."""
        return replace(self, examples=tuple(example for example in self.examples if wanted(example)))

    def split(self, seed: int = 0) -> dict[str, Suite]:
        """Cut into `fit`, `choose`, `evaluate`; a group is never shared, not even between tasks.

        Groups are taken in a hashed order. Each goes to the split that is furthest below its share of the group's
        tasks.
        """
        self._check_splittable()
        members: dict[str, list[Example]] = defaultdict(list)
        for example in self.examples:
            members[example.group].append(example)
        totals = Counter(example.task for example in self.examples)
        filled: dict[str, Counter[str]] = {split: Counter() for split in SPLITS}
        split_of_group: dict[str, str] = {}
        for group in sorted(members, key=lambda name: rank(seed, name)):
            counts = Counter(example.task for example in members[group])

            def missing(split: str, counts: Counter[str] = counts) -> float:
                return sum(n * (SHARES[split] - filled[split][task] / totals[task]) for task, n in counts.items())

            split_of_group[group] = max(SPLITS, key=missing)
            filled[split_of_group[group]].update(counts)
        for split in SPLITS:
            empty = [task for task in self.tasks if not filled[split][task]]
            if empty:
                raise HeadAtlasError(
                    f"Task {empty[0]!r} of suite {self.name!r} has no group left for the {split!r} split: its groups "
                    "are too few or too unequal. Use smaller groups, or more of them."
                )
        parts: dict[str, list[Example]] = {split: [] for split in SPLITS}
        for example in self.examples:
            parts[split_of_group[example.group]].append(example)
        return {split: replace(self, examples=tuple(part)) for split, part in parts.items()}

    def _check_splittable(self) -> None:
        for task in self.tasks:
            groups = {example.group for example in self.of(task)}
            if len(groups) < len(SPLITS):
                raise HeadAtlasError(
                    f"Task {task!r} of suite {self.name!r} has {len(groups)} group(s) and cannot be split into "
                    f"{', '.join(SPLITS)}: at least {len(SPLITS)} are needed. Give examples that share a fact the "
                    "same `group` and all others different ones."
                )

    def limit(self, per_task: int, seed: int = 0) -> Suite:
        """At most `per_task` examples of each task, from as many groups as possible."""
        chosen_ids: set[str] = set()
        for task in self.tasks:
            queues: dict[str, list[Example]] = defaultdict(list)
            for example in sorted(self.of(task), key=lambda e: rank(seed, e.id)):
                queues[example.group].append(example)
            turns = ((i, rank(seed, group), e.id) for group, queue in queues.items() for i, e in enumerate(queue))
            chosen_ids.update(example_id for _, _, example_id in sorted(turns)[:per_task])
        return self.keep(lambda example: example.id in chosen_ids)


def to_jsonl(examples: Iterable[Example]) -> str:
    """The examples as the text of a task file, one JSON object per line; absent fields are left out."""
    return "".join(json.dumps(e.model_dump(exclude_none=True), ensure_ascii=False) + "\n" for e in examples)
