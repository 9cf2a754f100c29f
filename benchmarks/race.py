"""Does `--top K` name the right heads? Exact effects of every head on all examples of a map are the truth.

The race is run again and again on known effects, each time with another draw of examples: how often a head is settled
wrongly, how often all are settled, how many of the true first K come first, and which share of all exact effects was
measured. Then the same of other suites: from a part of the groups of examples, and from groups drawn with replacement.
The first has fewer examples, but all are different, as in a suite. The second has copies, so that one odd example of a
head becomes several. Last, invented effects, of which attribution misses some entirely: how many it takes until races
are wrong too often. Effects are those of `certificate`, and shared with it: half an hour to two hours on two cores if
they are not there yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.certificate import Known, known_effects
from benchmarks.clock import report
from headatlas.methods.ablate import Ablate
from headatlas.methods.certify import draw_examples
from headatlas.methods.measurements import Part, nothing_measured, possible_size
from headatlas.methods.race import Race, Standing, exact_count, run_race, standing
from headatlas.model.heads import HeadModel
from headatlas.stats import Array

REPEATS = 300
TOPS = (5, 10, 20)
PARTS = (0.8, 0.6)  # of the groups, drawn without replacement
MISSED = (0.0, 0.0001, 0.001, 0.004)  # of the invented effects
EXAMPLES, HEADS = 96, 270  # of invented effects


@dataclass(frozen=True)
class Replay:
    """What one race gave: whether a head was settled wrongly, whether all were settled, and shares: of the heads that
    are settled, of the first heads that are, of the true first heads that come first, of exact effects."""

    wrong: bool
    settled: bool
    heads: float
    inside: float
    recall: float
    share: float


def run(model: HeadModel) -> None:
    for known in known_effects(model):
        task = known.task
        for top in TOPS:
            _report(f"{task}, first {top}", [_same(known, top, seed) for seed in range(REPEATS)])
        for part in PARTS:
            some = [_part(known, part, seed) for seed in range(REPEATS)]
            _report(f"{task}, {part:.0%} of the groups, first 10", some)
        for odd in (1, 2):
            again = [_with_copies(known, odd, seed) for seed in range(REPEATS)]
            _report(f"{task}, groups with replacement, first 10, odd {odd}", again)
        more = [_same(known, 10, seed, odd=2) for seed in range(REPEATS)]
        _report(f"{task}, first 10, odd 2", more)
    for missed in MISSED:
        for odd in (1, 2):
            races = [_invented(missed, odd, seed) for seed in range(REPEATS)]
            _report(f"Invented, {missed:.2%} missed, first 10, odd {odd}", races)


def replay(known: Known, race: Race, rng: np.random.Generator) -> Replay:
    """One race on known effects."""
    attributed, exact = known.attributed, known.exact
    size = possible_size(attributed, known.at_twin)
    draw = draw_examples(size, known.cost, race.levels[-1], rng)

    def look_up(_: str, parts: Sequence[Part]) -> list[Array]:
        return [exact[np.ix_(part.examples, part.units)] for part in parts]

    measured = run_race({"": nothing_measured(attributed, size, known.groups, draw)}, race, look_up)[""]
    now = standing(measured, race)
    first = np.zeros(race.heads, dtype=bool)
    first[np.argsort(-exact.mean(0), kind="stable")[: race.top]] = True
    wrong = bool((now.inside & ~first).any() or (now.outside & first).any())
    unsettled, share = len(now.unsettled), exact_count(measured, race) / exact.size
    settled = 1 - unsettled / race.heads
    return Replay(wrong, not unsettled, settled, float(now.inside.sum()) / race.top, _recall(now, first), share)


def _recall(now: Standing, first: Array) -> float:
    return float(first[np.argsort(-now.value, kind="stable")[: int(first.sum())]].mean())


def _race(top: int, heads: int, odd: int = 1) -> Race:
    return Race(top, Ablate.confidence, Ablate.budget, Ablate.presets["quick"]["exact"], heads, odd)


def _same(known: Known, top: int, seed: int, odd: int = 1) -> Replay:
    return replay(known, _race(top, known.exact.shape[1], odd), np.random.default_rng([seed, top]))


def _part(known: Known, part: float, seed: int) -> Replay:
    rng, names = np.random.default_rng([seed, 0]), sorted(set(known.groups))
    chosen = rng.choice(names, round(part * len(names)), replace=False)
    rows = np.flatnonzero(np.isin(known.groups, chosen))
    return replay(known.only(rows), _race(10, known.exact.shape[1]), rng)


def _with_copies(known: Known, odd: int, seed: int) -> Replay:
    rng, members = np.random.default_rng([seed, 0]), known.members
    rows = np.concatenate([members[name] for name in rng.choice(sorted(members), len(members))])
    return replay(known.only(rows), _race(10, known.exact.shape[1], odd), rng)


def _invented(missed: float, odd: int, seed: int) -> Replay:
    rng = np.random.default_rng([seed, 7])
    return replay(invented(missed, rng), _race(10, HEADS, odd), rng)


def invented(missed: float, rng: np.random.Generator) -> Known:
    """Effects of any scale, with errors in proportion to it; those that are missed do not depend on it."""
    shape = EXAMPLES, HEADS
    scale = np.exp(rng.normal(-3, 1.3, HEADS))
    attributed = rng.exponential(1, shape) * scale * np.where(rng.random(HEADS) < 0.6, 1, -1)
    exact = attributed * (1 + rng.normal(0, 0.3, HEADS)) + 0.3 * scale * rng.standard_t(3, shape)
    exact += np.where(rng.random(shape) < missed, 2 * np.abs(rng.standard_t(2, shape)), 0)
    cost, groups = rng.integers(1, 25, EXAMPLES).astype(float), [str(i) for i in range(EXAMPLES)]
    return Known("Invented", attributed, attributed, exact, cost, groups)


def _report(title: str, replays: list[Replay]) -> None:
    def mean(name: str) -> float:
        return float(np.mean([getattr(one, name) for one in replays]))

    report(f"{title}: races that settle a head wrongly", mean("wrong"), "", f"at most {1 - Ablate.confidence:.2f}")
    report(f"{title}: races that settle every head", mean("settled"), "", "")
    report(f"{title}: heads that are settled", mean("heads"), "", "")
    report(f"{title}: of the first heads, settled", mean("inside"), "", "")
    report(f"{title}: of the true first heads, first in the map", mean("recall"), "", "at least 0.9")
    report(f"{title}: exact effects measured, of all", mean("share"), "", f"at most {Ablate.budget:.2f}")
