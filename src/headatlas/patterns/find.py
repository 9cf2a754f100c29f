"""Asks every kind of statement of an atlas, and judges all answers together."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm

from headatlas.errors import UsageError
from headatlas.patterns.comparison import TaskComparison
from headatlas.patterns.correction import FAMILY_LEVEL, holm, max_t
from headatlas.patterns.finding import Finding, Statement
from headatlas.patterns.kind import Kind, Subject
from headatlas.patterns.kinds import (
    ABOVE_NULL,
    OF_MAPS_WITH_EFFECTS,
    OF_PAIRS_OF_METHODS,
    OF_PAIRS_OF_SEEDS,
    OF_SEVERAL_TASKS,
)
from headatlas.patterns.kinds.rank_agreement import pair_methods, pair_seeds
from headatlas.patterns.maps import TaskMap, on_common_heads, read_maps
from headatlas.patterns.nulls import Nulls
from headatlas.stats import LEVEL

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

FEWEST_HEADS = 8  # below that no shape is tested
FEWEST_DRAWS = 20  # one draw in 20 is a p-value of LEVEL


def find_patterns(
    atlas: Atlas, method: str | None = None, seed: int = 0, draws: int = 1000, measure: str | None = None
) -> list[Finding]:
    """Every statement about the maps of `method`, and about how the methods of the atlas agree.

    Without a method, the default one of the atlas. Supported statements come first, the clearest of every kind
    before the second of any; then those that are not supported, then those that could not be tested. The same seed
    gives the same numbers. Every null is drawn `draws` times; see docs/patterns.md for the smallest p-value that this
    allows.
    """
    if draws < FEWEST_DRAWS:
        raise UsageError(
            f"`draws` is {draws}, and fewer than {FEWEST_DRAWS} cannot reach a p-value of {LEVEL}. Use at least "
            f"{FEWEST_DRAWS}; 1000 is the default."
        )
    method = atlas.choose_method(method)
    measure = atlas.choose_measure(method, measure)
    inquiry = _Inquiry(method, measure, seed, draws)
    maps = read_maps(atlas, method, measure)
    with_effects = inquiry.find_effects(maps)
    tasks_with_effects = [task_map.task for task_map in with_effects]
    for task_map in maps:
        inquiry.describe_map(task_map, task_map.task in tasks_with_effects)
    inquiry.compare_tasks(with_effects)
    rng = inquiry.rng("agreement", any_method=True)
    for first, second in combinations(atlas.methods, 2):
        pairs = pair_methods(atlas, first, second, FAMILY_LEVEL / max(1, len(maps)), draws, rng)
        inquiry.ask(OF_PAIRS_OF_METHODS, pairs, [pairs.title], pairs.methods)
    pairs = pair_seeds(atlas, method, measure, tasks_with_effects, draws, rng)
    if pairs.pairs:
        inquiry.ask(OF_PAIRS_OF_SEEDS, pairs, [pairs.title])
    return inquiry.findings()


@dataclass(frozen=True)
class _Answer:
    """A statement with its kind and the method, or methods, that it is about."""

    kind: Kind
    statement: Statement
    method: str


@dataclass
class _Inquiry:
    """What was asked of an atlas so far: answers that are to be judged together, and what could not be tested."""

    method: str
    measure: str
    seed: int
    draws: int
    judged: list[tuple[Finding, float]] = field(default_factory=list)  # with their scores
    answers: list[_Answer] = field(default_factory=list)
    obstacles: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # kinds by (reason, about)

    def rng(self, *names: str, any_method: bool = False) -> np.random.Generator:
        """A generator that does not depend on how many tasks there are or on their order."""
        names = names if any_method else (self.method, self.measure, *names)
        return np.random.default_rng([self.seed, zlib.crc32("\0".join(names).encode())])

    def ask(
        self, kinds: Sequence[Kind[Subject]], subject: Subject, about: Sequence[str], method: str | None = None
    ) -> None:
        """Ask these kinds of a subject; `about` says what it is where a kind cannot be asked of it."""
        for kind in kinds:
            if reason := kind.obstacle(subject):
                self.skip([kind], about, reason)
            else:
                self.answers += [_Answer(kind, each, method or self.method) for each in kind.answer(subject)]

    def skip(self, kinds: Sequence[Kind], about: Sequence[str], reason: str) -> None:
        for each in about:
            self.obstacles.setdefault((reason, each), []).extend(kind.name for kind in kinds)

    def find_effects(self, maps: Sequence[TaskMap]) -> list[TaskMap]:
        """The maps that hold effects, judged at once. A map without p-values is taken as it is."""
        tested = []
        for task_map in maps:
            if reason := ABOVE_NULL.obstacle(task_map):
                self.skip([ABOVE_NULL], [task_map.task], reason)
            else:
                tested.append(task_map)
        adjusted = dict(zip((each.task for each in tested), holm([each.global_p for each in tested]), strict=True))
        for task_map in tested:
            (statement,) = ABOVE_NULL.answer(task_map)
            p = task_map.global_p
            finding = self._finding(_Answer(ABOVE_NULL, statement, self.method), p, adjusted[task_map.task])
            self.judged.append((finding, float(norm.isf(max(p, 1e-300)))))
        return [each for each in maps if each.size.any() and adjusted.get(each.task, 0.0) < LEVEL]

    def describe_map(self, task_map: TaskMap, has_effects: bool) -> None:
        """Ask for the shape of a map, if it has one."""
        reason = None
        if not task_map.size.any():
            reason = "all values are zero"
        elif not has_effects:
            reason = "the map is not shown to hold any effect, so there is no shape to describe"
        elif len(task_map.value) < FEWEST_HEADS:
            reason = f"fewer than {FEWEST_HEADS} heads were measured"
        elif np.ptp(task_map.size) == 0:
            reason = "all heads have the same value"
        if reason:
            self.skip(OF_MAPS_WITH_EFFECTS, [task_map.task], reason)
        else:
            self.ask(OF_MAPS_WITH_EFFECTS, Nulls(task_map, self.draws, self.rng(task_map.task)), [task_map.task])

    def compare_tasks(self, maps: Sequence[TaskMap]) -> None:
        tasks = [task_map.task for task_map in maps]
        if len(maps) < 2:
            self.skip(OF_SEVERAL_TASKS, tasks, "fewer than two maps hold effects that could be compared")
            return
        common = on_common_heads(maps)
        if len(common[0].value) < FEWEST_HEADS:
            self.skip(OF_SEVERAL_TASKS, tasks, f"fewer than {FEWEST_HEADS} heads were measured for all tasks")
            return
        nulls = [Nulls(task_map, self.draws, self.rng(task_map.task, "compared")) for task_map in common]
        self.ask(OF_SEVERAL_TASKS, TaskComparison(nulls, self.rng()), tasks)

    def findings(self) -> list[Finding]:
        """All statements, judged and in order, and what could not be tested."""
        scores, p, adjusted = max_t([answer.statement for answer in self.answers])
        judged = [self._finding(*each) for each in zip(self.answers, p, adjusted, strict=True)]
        return _in_order([*self.judged, *zip(judged, scores, strict=True)]) + self._untested()

    def _finding(self, answer: _Answer, p: float, adjusted: float) -> Finding:
        statement = answer.statement
        supported = bool(adjusted < LEVEL)
        return Finding(
            kind=answer.kind.name,
            tasks=statement.tasks,
            method=answer.method,
            measure=self.measure,
            statement=statement.claim if supported else statement.denial,
            value=float(statement.value),
            effect=float(statement.effect),
            null=answer.kind.null,
            p=float(p),
            p_adjusted=float(adjusted),
            supported=supported,
            heads=tuple(statement.heads) if supported else (),
        )

    def _untested(self) -> list[Finding]:
        """One entry for every reason and set of kinds, with all the tasks it holds for."""
        tasks_by_reason: dict[tuple[str, str], list[str]] = {}
        for (reason, about), kinds in self.obstacles.items():
            tasks_by_reason.setdefault((", ".join(kinds), reason), []).append(about)
        return [
            Finding(
                kind=kinds,
                tasks=tuple(tasks),
                method=self.method,
                measure=self.measure,
                statement=f"Not tested for {', '.join(tasks)}: {kinds}. Reason: {reason}.",
                value=None,
                effect=None,
                null="",
                p=None,
                p_adjusted=None,
                supported=False,
            )
            for (kinds, reason), tasks in tasks_by_reason.items()
        ]


def _in_order(judged: Sequence[tuple[Finding, float]]) -> list[Finding]:
    """Supported first; of these the clearest of every kind before the second of any; then by adjusted p-value."""
    seen: dict[tuple[str, bool], int] = {}
    keyed = []
    for finding, score in sorted(judged, key=lambda pair: -pair[1]):
        rank_in_kind = seen[finding.kind, finding.supported] = seen.get((finding.kind, finding.supported), -1) + 1
        keyed.append(((not finding.supported, rank_in_kind, finding.p_adjusted or 0.0, -score), finding))
    return [finding for _, finding in sorted(keyed, key=lambda pair: pair[0])]
