"""How far p-values, false-discovery rates and intervals can be trusted: nulls and known truths, simulated many times.

`python -m benchmarks calibration` takes about ten minutes on one core and needs no model. A shorter form is in the
tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy import stats

from benchmarks.null_methods import (
    NOISE,
    certified,
    exact,
    maps_of_effects,
    probe_null,
    repair_null,
    sense_null,
    sense_pairs_null,
    specific_null,
)
from benchmarks.null_tests import null_tests
from headatlas.intervals import change_interval, mean_interval, ratio_interval
from headatlas.stats import LEVEL, Array

GROUPS = (6, 8, 12, 20, 40)
LOST = (0.02, 0.1, 0.3, 0.6)
SHARES = (0.0, 0.1, 0.3)  # of the heads that have an effect
Draw = Callable[[np.random.Generator, tuple[int, ...]], Array]
EFFECTS: Mapping[str, Draw] = {  # all have the mean 1
    name: lambda rng, size, noise=noise: 1 + noise(rng, size)  # type: ignore[misc]
    for name, noise in NOISE.items()
}


def run() -> None:
    print("Coverage of 95 % intervals", f"{'groups':>8}", *(f"{name:>12}" for name in EFFECTS))
    for name, coverage in (("mean of a change", mean_coverage), ("fraction, perplexity", ratio_coverage)):
        for groups in GROUPS:
            covered = [coverage(draw, groups, 10000) for draw in EFFECTS.values()]
            print(f"{name:<26}", f"{groups:>8}", *(f"{share:>12.3f}" for share in covered))
    print("\nChange of accuracy, share of examples lost", f"{'groups':>8}", *(f"{lost:>8}" for lost in LOST))
    for groups in GROUPS:
        print(" " * 42, f"{groups:>8}", *(f"{change_coverage(lost, groups, 500):>8.3f}" for lost in LOST), flush=True)
    print("\nWithout an effect: how often p < 0.05, and how far p is too small (one-sided KS)")
    print_methods()
    for heading, null in null_tests():
        excluded = f"interval excludes 0 {np.mean(null.excluded):.3f}"
        families = f", false discoveries {np.mean(null.discoveries):.3f}" if null.discoveries else ""
        print(f"{heading:<64}", described(null.p_values), excluded + families, flush=True)


def print_methods() -> None:
    """p of every method that prints one, and the rate of false discoveries at q < 0.05 for each of SHARES."""
    for title, estimate, times in (("exact effects", exact, 150), ("certified effects", certified, 60)):
        for groups in (6, 12, 40):
            for name, draw in NOISE.items():
                nulls = [maps_of_effects(estimate, draw, groups, times, share) for share in SHARES]
                rates = ", ".join(f"{np.mean(false):.3f}" for _, false in nulls)
                heading = f"{title}, {groups} groups, {name}"
                print(f"{heading:<64}", described(nulls[0][0]), f"false discoveries {rates}", flush=True)
    for groups in (12, 40):
        for name, draw in NOISE.items():
            p_values, false = specific_null(draw, groups, 200)
            heading = f"specific, 4 tasks, {groups} groups, {name}"
            print(f"{heading:<64}", described(p_values), f"false discoveries {np.mean(false):.3f}", flush=True)
    for bounded in (False, True):
        for groups in (6, 24, 96):
            for name, draw in NOISE.items():
                masked = [sense_null(draw, groups, 30, share, bounded) for share in SHARES]
                rates = ", ".join(f"{np.mean(false):.3f}" for _, false, _ in masked)
                heading = f"random masks, {groups} groups, {name}{', losses bounded' if bounded else ''}"
                p_values = [p for of_share, _, _ in masked for p in of_share]
                covered = f"coverage {np.mean([share for _, _, share in masked]):.3f}"
                print(f"{heading:<64}", described(p_values), f"false discoveries {rates}, {covered}", flush=True)
    backed = list(sense_pairs_null(20))
    print(f"random masks, two heads that add up: said to back each other up in {sum(backed)} of {len(backed)} draws")
    for carriers in (0, 4):
        for measure, (p_values, false) in probe_null(40, carriers).items():
            heading = f"linear probe, {measure}, beside {carriers} heads that carry the task"
            print(f"{heading:<64}", described(p_values), f"false discoveries {np.mean(false):.3f}", flush=True)
    draws = list(repair_null(40))
    p_values = [p for of_draw, _ in draws for p in of_draw]
    print(f"{'repair, two heads that add up':<64}", described(p_values),
          f"draws with a discovery {np.mean([found for _, found in draws]):.3f}", flush=True)  # fmt: skip


def described(p_values: Sequence[float]) -> str:
    """Share below LEVEL, and the largest amount by which the share of p below any bound exceeds the bound."""
    if not p_values:
        return "no p"
    too_small = stats.kstest(p_values, "uniform", alternative="greater").statistic
    return f"{len(p_values):>7} p, p < 0.05 {np.mean(np.array(p_values) < LEVEL):.3f}, KS {too_small:.3f}"


def mean_coverage(draw: Draw, groups: int, times: int) -> float:
    low, high = mean_interval(draw(np.random.default_rng(groups), (groups, times)), _names(groups))
    return float(np.mean((low <= 1) & (high >= 1)))


def ratio_coverage(draw: Draw, groups: int, times: int) -> float:
    """Of sums over sums, whose truth is 0.5."""
    rng = np.random.default_rng(groups)
    sizes = 2 + draw(rng, (groups, times))
    low, high = ratio_interval(0.5 * sizes + draw(rng, (groups, times)) - 1, sizes, _names(groups))
    return float(np.mean((low <= 0.5) & (high >= 0.5)))


def change_coverage(lost: float, groups: int, times: int) -> float:
    """Of a change of accuracy by `lost`, where nothing is gained."""
    after = (np.random.default_rng(groups).random((groups, times)) >= lost).astype(float)
    low, high = change_interval(np.ones(groups), after, _names(groups))
    return float(np.mean((low <= -lost) & (high >= -lost)))


def _names(count: int) -> list[str]:
    return [str(i) for i in range(count)]
