"""How many of the first heads of a map would be found again: by halves of the examples, wordings, seeds and errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from headatlas.atlas.records import (
    FIRST_HEADS,
    SHARED_BY_HALVES,
    WITHOUT_A_WORDING,
    WITHOUT_WORST_WORDING,
    WORDINGS,
)
from headatlas.patterns.agreement import TOP, comparable, compare, repeated_overlap
from headatlas.patterns.maps import TaskMap, read_maps, read_seed_maps

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas


class FoundAgain(NamedTuple):
    """Numbers of heads among the first `k` of a map of `heads`; None where something was not measured.

    Two halves of the examples share `halves` of them. Without one of `wordings` wordings `without_one` stay on average
    and `without_worst` at least. Two of `seeds` seeds share `between_seeds`. New examples would give `repeat` again, as
    the standard errors imply; it is worked out only where halves are not known, because heads err together.
    """

    method: str
    task: str
    heads: int
    k: int
    halves: float | None
    wordings: int
    without_one: float | None
    without_worst: float | None
    seeds: int
    between_seeds: float | None
    repeat: float | None

    @property
    def by_chance(self) -> float:
        return self.k**2 / self.heads


def found_again(atlas: Atlas, method: str | None = None, task: str | None = None) -> list[FoundAgain]:
    """For every method and task, or those asked for, by the method's first measure; maps of which nothing is known are
    left out."""
    found, reported = [], atlas.diagnostics
    if task is not None:
        reported = reported[reported["task"] == task]
    means = reported.groupby(["method", "task", "metric"])["value"].mean()
    numbers = {key: of_map.droplevel([0, 1]).to_dict() for key, of_map in means.groupby(level=[0, 1])}
    for name in [method] if method else atlas.methods:
        for task_map in read_maps(atlas, name, atlas.choose_measure(name)):
            if task in (None, task_map.task):
                one = _one(atlas, name, task_map, numbers.get((name, task_map.task), {}))
                found += [one] if any(n is not None for n in (one.halves, one.between_seeds, one.repeat)) else []
    return found


def _one(atlas: Atlas, method: str, task_map: TaskMap, numbers: Mapping[str, float]) -> FoundAgain:
    """`numbers` are what the method reports about the task, as means over seeds."""
    task, heads = task_map.task, len(task_map.value)
    k = int(numbers.get(FIRST_HEADS, max(1, min(TOP, heads // 4))))
    seed_maps = list(read_seed_maps(atlas, method, atlas.choose_measure(method), task).values())
    pairs = comparable((a, b) for i, a in enumerate(seed_maps) for b in seed_maps[i + 1 :])
    halves = numbers.get(SHARED_BY_HALVES)
    return FoundAgain(
        method, task, heads, k, halves, int(numbers.get(WORDINGS, 0)), numbers.get(WITHOUT_A_WORDING),
        numbers.get(WITHOUT_WORST_WORDING), len(seed_maps),
        float(np.mean([compare(*pair, k).shared for pair in pairs])) if pairs else None,
        repeated_overlap(task_map, k) if halves is None and task_map.has_errors and heads > 2 else None,
    )  # fmt: skip
