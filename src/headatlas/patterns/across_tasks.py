"""Several tasks side by side: heads they share, heads of one alone, denser tasks, deeper tasks.

Only tasks whose maps hold effects are compared, and only on heads measured for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from headatlas.patterns.correction import exact_score
from headatlas.patterns.depth import centre, layer_mass
from headatlas.patterns.finding import Statement
from headatlas.patterns.maps import TaskMap
from headatlas.patterns.nulls import Nulls
from headatlas.patterns.words import band, count, heads_in_words, percent, signed, slightly
from headatlas.stats import Array

CHUNK = 5_000_000  # values of a null held at once
LABELS = "the effects of every head exchanged between the tasks, each with the noise of its own standard error"


def shared(maps: Sequence[TaskMap], draws: int, rng: np.random.Generator) -> Statement:
    """How many heads two tasks have in common, on average over all pairs of tasks."""
    tasks = tuple(found.task for found in maps)
    times = np.sum([found.above for found in maps], axis=0)
    overlap, in_tasks = np.empty(draws), np.zeros(len(maps) + 1)
    step = max(1, CHUNK // len(times))
    for start in range(0, draws, step):
        part = slice(start, min(draws, start + step))
        counted = _exchanged_sets(maps, part.stop - part.start, rng)
        overlap[part] = _overlap(counted, len(maps))
        in_tasks += np.bincount(counted.ravel(), minlength=len(in_tasks)) / draws
    own, expected = float(_overlap(times, len(maps))), float(overlap.mean())
    # Named: heads in so many tasks that of ten such heads at most one is expected by chance.
    sure = [c for c in range(2, len(maps) + 1) if in_tasks[c:].sum() <= 0.1 * np.count_nonzero(times >= c)]
    enough = min(sure, default=len(maps) + 1)
    order = np.argsort(-times, kind="stable")
    named = maps[0].names(order[times[order] >= enough])
    what = "heads above the null" if all(found.has_p for found in maps) else "heads among their strongest 5 %"
    shown = f"two of the {len(tasks)} tasks have on average {own:.1f} {what} in common, {expected:.1f} expected"
    if named:
        shown += (
            f"; in {'all' if enough == len(tasks) else f'{enough} or more'} of the tasks: {heads_in_words(named, 8)}"
        )
    return Statement(
        "shared heads",
        tasks,
        f"The tasks share heads: {shown}.",
        f"The tasks are not shown to share more heads than chance gives: {shown}.",
        value=own,
        effect=own - expected,
        null="as many heads in every layer and task, in random order within the layer",
        observed=own,
        draws=overlap,
        heads=named,
    )


def _overlap(times: np.ndarray, tasks: int) -> Array:
    """Mean number of common heads of two tasks, from the number of tasks of every head [..., n]."""
    return (times * (times - 1)).sum(axis=-1) / (tasks * (tasks - 1))


def _exchanged_sets(maps: Sequence[TaskMap], draws: int, rng: np.random.Generator) -> np.ndarray:
    """In how many tasks a head is chosen, [draw, n], when every task chooses anew within its layers."""
    counted = np.zeros((draws, len(maps[0].value)), dtype=np.int16)
    for found in maps:
        for layer in np.unique(found.layer[found.above]):
            own = np.flatnonzero(found.layer == layer)
            chosen = np.tile(found.above[own].astype(np.int16), (draws, 1))
            counted[:, own] += rng.permuted(chosen, axis=1)
    return counted


def specific(nulls: Sequence[Nulls]) -> list[Statement]:
    """Heads whose effect is larger in one task than in each of the others, in units of each map's own size.

    An intersection of t-tests: the smallest difference counts. Sizes are positive, so the tests are two-sided. The head
    must stand above the null itself.
    """
    maps = [own.map for own in nulls]
    scale = np.array([_root_mean_square(own.effects) for own in nulls])[:, None]
    size = np.stack([found.size for found in maps]) / scale
    error = np.stack([found.stderr for found in maps]) / scale
    df = min(found.df for found in maps)
    statements = []
    for i, found in enumerate(maps):
        others = [j for j in range(len(maps)) if j != i]
        t = ((size[i] - size[others]) / np.hypot(error[i], error[others])).min(axis=0)
        p = np.where((t > 0) & found.above, 2 * stats.t.sf(t, df), 1.0)
        whole = min(1.0, float(p.min()) * len(p))
        lead = np.where(found.above, size[i] - size[others].max(axis=0), -np.inf)
        order = np.argsort(-lead, kind="stable")
        named = found.names(order[(p * len(p) * len(maps) < 0.05)[order]])
        observed, draws = exact_score(whole, nulls[i].draws, nulls[i].rng)
        first = order[0]
        rest = "the other" if len(others) == 1 else f"each of {len(others)} others"
        shown = f"L{found.layer[first]}H{found.head[first]} has {size[i, first]:.1f} times the typical effect of {found.task}, and at most {size[others, first].max():.1f} times in the other task{'s' * (len(others) > 1)}"  # noqa: E501
        statements.append(
            Statement(
                "specific heads",
                _order(maps, i),
                f"{found.task} has {count(len(named), 'head')} of its own, stronger than in {rest}: "
                f"{heads_in_words(named)}; {shown}.",
                f"{found.task} has no head shown to be stronger than in {rest}; the nearest: {shown}.",
                value=len(named),
                effect=float(lead[first]),
                null="in some other task the head has an effect of the same relative size (t-tests, Bonferroni over heads)",  # noqa: E501
                observed=observed,
                draws=draws,
                p=whole,
                heads=named,
            )
        )
    return statements


def _root_mean_square(effects: np.ndarray) -> float:
    return max(float(np.sqrt(np.mean(np.square(effects, dtype=float)))), 1e-12)


def density_and_depth(nulls: Sequence[Nulls], rng: np.random.Generator) -> list[Statement]:
    """Every task against the mean of the others; of two tasks one statement says it all."""
    maps = [own.map for own in nulls]
    draws, tasks = nulls[0].draws, len(maps)
    cut = float(np.quantile(np.concatenate([found.size for found in maps]), 0.9))
    dense, deep = np.empty((draws, tasks)), np.empty((draws, tasks))
    step = max(1, CHUNK // (tasks * len(maps[0].value)))
    for start in range(0, draws, step):
        part = slice(start, min(draws, start + step))
        plain, relative = _exchanged_effects(nulls, part.stop - part.start, rng)
        for i, found in enumerate(maps):
            noise = rng.standard_normal((len(plain), plain.shape[2]), dtype=np.float32) * found.stderr.astype(
                np.float32
            )
            dense[part, i] = (np.abs(plain[:, i] + noise) > cut).mean(axis=1)
            deep[part, i] = centre(layer_mass(found, np.abs(relative[:, i] + noise)))
    shares = np.array([(found.size > cut).mean() for found in maps])
    centres = np.array([float(centre(layer_mass(found, found.size))) for found in maps])
    chosen = range(tasks if tasks > 2 else 1)
    statements = [_denser(maps, i, shares, dense, cut) for i in chosen]
    if maps[0].shape[0] > 1:
        statements += [_deeper(maps, i, centres, deep) for i in chosen]
    return statements


def _exchanged_effects(nulls: Sequence[Nulls], draws: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Effects [draw, task, n] with the tasks exchanged at every head: as they are, and relative to each map's size."""
    effects = np.stack([own.effects[rng.integers(len(own.effects), size=draws)] for own in nulls], axis=1)
    labels = np.tile(np.arange(len(nulls), dtype=np.int16)[None, :, None], (draws, 1, effects.shape[2]))
    labels = rng.permuted(labels, axis=1)
    scale = np.array([_root_mean_square(own.effects) for own in nulls], dtype=np.float32)[None, :, None]
    return np.take_along_axis(effects, labels, axis=1), np.take_along_axis(effects / scale, labels, axis=1) * scale


def _denser(maps: Sequence[TaskMap], i: int, shares: Array, drawn: Array, cut: float) -> Statement:
    own, draws = float(_from_the_rest(shares, i)), _from_the_rest(drawn, i)
    task, rest = _names(maps, i)
    shown = (
        f"{percent(float(shares[i]))} of its heads are larger than {cut:.2g} (the strongest tenth of all), against "
        f"{percent(float(shares[i]) - own)} for {rest}"
    )
    how = "denser" if own > 0 else "less dense"
    return Statement(
        "density",
        _order(maps, i),
        f"{task} is {how} than {rest}: {shown}.",
        f"{task} is not shown to be denser or less dense than {rest}: {shown}.",
        value=float(shares[i]),
        effect=own,
        null=LABELS,
        observed=own,
        draws=draws,
        sides=2,
    )


def _deeper(maps: Sequence[TaskMap], i: int, centres: Array, drawn: Array) -> Statement:
    own, draws = float(_from_the_rest(centres, i)), _from_the_rest(drawn, i)
    effect = own / (maps[0].shape[0] - 1)
    task, rest = _names(maps, i)
    shown = f"its centre of mass is layer {centres[i]:.1f}, that of {rest} {centres[i] - own:.1f}; the difference is {signed(own)}, exchanged tasks give {band(draws)}"  # noqa: E501
    return Statement(
        "depth difference",
        _order(maps, i),
        f"{task} lies {slightly(effect)}{'later' if own > 0 else 'earlier'} than {rest}: {shown}.",
        f"{task} is not shown to lie earlier or later than {rest}: {shown}.",
        value=own,
        effect=effect,
        null=LABELS,
        observed=own,
        draws=draws,
        sides=2,
    )


def _names(maps: Sequence[TaskMap], i: int) -> tuple[str, str]:
    return maps[i].task, maps[1 - i].task if len(maps) == 2 else f"the {len(maps) - 1} other tasks"


def _order(maps: Sequence[TaskMap], i: int) -> tuple[str, ...]:
    return (maps[i].task, *(found.task for j, found in enumerate(maps) if j != i))


def _from_the_rest(values: Array, i: int) -> Array:
    """Task i less the mean of the others, over the last axis."""
    return values[..., i] - np.delete(values, i, axis=-1).mean(axis=-1)
