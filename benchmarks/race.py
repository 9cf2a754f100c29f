"""Does `--top K` name the right heads? Exact effects of every head on all examples of a map are the truth.

The race is run again and again on known effects, each time with another draw of examples: how often a head is settled
wrongly, how often all are settled, how many of the true first K come first, and which share of all exact effects was
measured. Then the same with groups of examples drawn with replacement, as if the suite had been made again. Effects are
those of `certificate`, and shared with it: an hour on two cores if they are not there yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.certificate import known_effects
from benchmarks.clock import report
from headatlas.methods.ablate import Ablate
from headatlas.methods.certify import draw_examples
from headatlas.methods.race import Race, Standing, exact_count, run_race, standing
from headatlas.methods.rounds import Part, more_turns, nothing_measured
from headatlas.model.heads import HeadModel
from headatlas.stats import Array

REPEATS = 300
TOPS = (5, 10, 20)


@dataclass(frozen=True)
class Replay:
    """What one race gave: whether a head was settled wrongly, whether all were settled, and shares."""

    wrong: bool
    settled: bool
    recall: float
    share: float


def run(model: HeadModel) -> None:
    for task, attributed, exact, groups in known_effects(model):
        for top in TOPS:
            _report(f"{task}, first {top}", [_same(attributed, exact, top, seed) for seed in range(REPEATS)])
        again = [_made_again(attributed, exact, groups, seed) for seed in range(REPEATS)]
        _report(f"{task} made again, first 10", again)


def replay(attributed: Array, exact: Array, race: Race, rng: np.random.Generator) -> Replay:
    """One race on known effects [example, head]."""
    draw = draw_examples(attributed, more_turns(race.turns), rng)

    def look_up(_: str, parts: Sequence[Part]) -> list[Array]:
        return [exact[np.ix_(part.examples, part.units)] for part in parts]

    groups = [str(i) for i in range(len(exact))]
    measured = run_race({"": nothing_measured(attributed, groups, draw)}, race, look_up)[""]
    now = standing(measured, race)
    first = np.zeros(race.heads, dtype=bool)
    first[np.argsort(-exact.mean(0), kind="stable")[: race.top]] = True
    wrong = bool((now.inside & ~first).any() or (now.outside & first).any())
    return Replay(wrong, not len(now.unsettled), _recall(now, first), exact_count(measured, race) / exact.size)


def _recall(now: Standing, first: Array) -> float:
    return float(first[np.argsort(-now.value, kind="stable")[: int(first.sum())]].mean())


def _race(top: int, heads: int) -> Race:
    return Race(top, Ablate.confidence, Ablate.budget, Ablate.presets["quick"]["exact"], heads)


def _same(attributed: Array, exact: Array, top: int, seed: int) -> Replay:
    return replay(attributed, exact, _race(top, exact.shape[1]), np.random.default_rng([seed, top]))


def _made_again(attributed: Array, exact: Array, groups: list[str], seed: int) -> Replay:
    rng = np.random.default_rng([seed, 0])
    members = {name: np.flatnonzero(np.asarray(groups) == name) for name in sorted(set(groups))}
    rows = np.concatenate([members[name] for name in rng.choice(sorted(members), len(members))])
    return replay(attributed[rows], exact[rows], _race(10, exact.shape[1]), rng)


def _report(title: str, replays: list[Replay]) -> None:
    def mean(name: str) -> float:
        return float(np.mean([getattr(one, name) for one in replays]))

    report(f"{title}: races that settle a head wrongly", mean("wrong"), "", f"at most {1 - Ablate.confidence:.2f}")
    report(f"{title}: races that settle every head", mean("settled"), "", "")
    report(f"{title}: of the true first heads, first in the map", mean("recall"), "", "at least 0.9")
    report(f"{title}: exact effects measured, of all", mean("share"), "", f"at most {Ablate.budget:.2f}")
