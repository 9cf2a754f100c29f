"""What the maps of an atlas show: every kind of sentence as a statistic with a null, and one verdict over all of them.

People see bands and hot spots in any heatmap. Here each such sentence is a number, compared with what the
same map would give if the sentence were false, noise of its standard errors included; and all sentences are corrected
together, so that maps of pure noise state anything at all in at most 5 % of atlases. docs/patterns.md lists the kinds.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm

from headatlas.errors import UsageError
from headatlas.patterns import across_tasks, amounts, depth, methods, position
from headatlas.patterns.correction import FAMILIES, LEVEL, holm, max_t
from headatlas.patterns.finding import Finding, Statement, Untested
from headatlas.patterns.maps import TaskMap, read_maps
from headatlas.patterns.nulls import Nulls

if TYPE_CHECKING:
    from headatlas.atlas.reading import Atlas

__all__ = ["Finding", "find_patterns"]

FEWEST = 8  # heads below which no shape is tested


def find_patterns(
    atlas: Atlas, method: str | None = None, seed: int = 0, draws: int = 1000, measure: str | None = None
) -> list[Finding]:
    """Every statement about the maps of `method`, and about how the methods of the atlas agree; strongest first.

    Without a method, the last that measured every head. Supported statements come first, the strongest of every kind
    before the second of any. Then those that are not supported, then those that could not be tested. The same seed
    gives the same numbers. `draws` of every null are made: adjusted p-values are no smaller than 1 / (draws + 1).
    """
    if draws < 20:
        raise UsageError(f"draws={draws} was asked for; fewer than 20 cannot reach a p-value of {LEVEL}.")
    method = atlas.choose_method(method)
    measure = atlas.choose_measure(method, measure)
    maps = read_maps(atlas, method, measure)
    firm, first = _firm_maps(maps, method, measure)
    made: list[Statement | Untested] = []
    kv_heads = int(atlas.run["model"].get("kv_heads") or atlas.shape[1])
    for found in maps:
        made += _of_one(Nulls(found, draws, _rng(seed, method, measure, found.task)), kv_heads, found in firm)
    made += _of_several(firm, draws, seed, method, measure)
    rng = _rng(seed, "agreement")
    made += methods.method_agreement(atlas, draws, rng, LEVEL / (FAMILIES * max(1, len(maps))))
    made += methods.seed_stability(atlas, method, measure, firm, draws, rng)
    statements = [entry for entry in made if isinstance(entry, Statement)]
    untested = [entry for entry in made if isinstance(entry, Untested)]
    scores, p, adjusted = max_t(statements)
    judged = [_finding(*row, method, measure) for row in zip(statements, p, adjusted, strict=True)]
    return _ordered(first + list(zip(judged, scores, strict=True))) + _left_out(untested, method, measure)


def _firm_maps(maps: Sequence[TaskMap], method: str, measure: str) -> tuple[list[TaskMap], list[tuple[Finding, float]]]:
    """The maps that hold effects, and what there is to say about it. Without p-values a map is taken as it is."""
    known = [found for found in maps if found.has_p]
    statements = [amounts.above_null(found) for found in known]
    adjusted = holm([found.global_p for found in known])
    judged = [
        (_finding(entry, found.global_p, own, method, measure), float(norm.isf(max(found.global_p, 1e-300))))
        for entry, found, own in zip(statements, known, adjusted, strict=True)
    ]
    stated = {finding.tasks[0] for finding, _ in judged if finding.supported}
    return [found for found in maps if found.size.any() and (not found.has_p or found.task in stated)], judged


def _rng(seed: int, *names: str) -> np.random.Generator:
    """Independent of how many tasks there are and of their order."""
    return np.random.default_rng([seed, zlib.crc32("\0".join(names).encode())])


def _of_one(nulls: Nulls, kv_heads: int, holds: bool) -> list[Statement | Untested]:
    found = nulls.map
    made: list[Statement | Untested] = []
    if not found.has_p:
        made.append(Untested("above null", found.task, "the map has no p-values"))
    shapes = "sparsity, outliers, depth, spread, layers, hot spot, neighbours, kv groups"
    if not holds:
        noise = "the map is not shown to hold any effect, so there is no shape to describe"
        why = noise if found.size.any() else "all values are zero"
        return [*made, Untested(shapes, found.task, why)]
    if len(found.value) < FEWEST:
        return [*made, Untested(shapes, found.task, f"fewer than {FEWEST} heads were measured")]
    if np.ptp(found.size) == 0:
        return [*made, Untested(shapes, found.task, "all heads have the same value")]
    made += [amounts.sparsity(nulls), amounts.outliers(nulls)]
    many_layers, many_heads = len(np.unique(found.layer)) > 1, np.bincount(found.layer).max() > 1
    if many_layers:
        made += depth.depth(nulls)
    else:
        made.append(Untested("depth, spread, layers", found.task, "the map has one layer"))
    if many_heads:
        made += position.neighbours(nulls, kv_heads)
    else:
        made.append(Untested("neighbours, kv groups", found.task, "every layer has one head"))
    if many_layers and many_heads:
        made.append(position.hot_spot(nulls))
    return made


def _of_several(
    maps: Sequence[TaskMap], draws: int, seed: int, method: str, measure: str
) -> list[Statement | Untested]:
    kinds = "shared heads, specific heads, density, depth difference"
    if len(maps) < 2:
        return [
            Untested(kinds, found.task, "fewer than two maps hold effects that could be compared") for found in maps
        ]
    keys = [set(zip(found.layer.tolist(), found.head.tolist(), strict=True)) for found in maps]
    everywhere = set.intersection(*keys)
    kept = [
        found.only(
            np.array([place in everywhere for place in zip(found.layer.tolist(), found.head.tolist(), strict=True)])
        )
        for found in maps
    ]
    if len(everywhere) < FEWEST:
        return [Untested(kinds, found.task, f"fewer than {FEWEST} heads were measured for all tasks") for found in maps]
    rng = _rng(seed, method, measure)
    nulls = [Nulls(found, draws, _rng(seed, method, measure, found.task, "compared")) for found in kept]
    made: list[Statement | Untested] = [
        across_tasks.shared(kept, draws, rng),
        *across_tasks.density_and_depth(nulls, rng),
    ]
    if all(found.noisy for found in kept):
        made += across_tasks.specific(nulls)
    else:
        made += [Untested("specific heads", found.task, "the map has no standard errors") for found in kept]
    return made


def _finding(entry: Statement, p: float, adjusted: float, method: str, measure: str) -> Finding:
    supported = bool(adjusted < LEVEL)
    return Finding(
        entry.kind,
        entry.tasks,
        entry.method or method,
        measure,
        entry.claim if supported else entry.denial,
        float(entry.value),
        float(entry.effect),
        entry.null,
        float(p),
        float(adjusted),
        supported,
        tuple(entry.heads) if supported else (),
    )


def _ordered(judged: Sequence[tuple[Finding, float]]) -> list[Finding]:
    """Supported first; of these the strongest of every kind before the second of any; then by adjusted p-value."""
    seen: dict[tuple[str, bool], int] = {}
    keyed = []
    for finding, score in sorted(judged, key=lambda pair: -pair[1]):
        place = seen[finding.kind, finding.supported] = seen.get((finding.kind, finding.supported), -1) + 1
        keyed.append(((not finding.supported, place, finding.p_adjusted or 0.0, -score), finding))
    return [finding for _, finding in sorted(keyed, key=lambda pair: pair[0])]


def _left_out(untested: Sequence[Untested], method: str, measure: str) -> list[Finding]:
    """One entry for every reason, with all the tasks it holds for."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for entry in untested:
        reasons.setdefault((entry.kind, entry.reason), []).append(entry.task)
    return [
        Finding(
            kind,
            tuple(tasks),
            method,
            measure,
            f"Not tested for {', '.join(tasks)}: {kind}. Reason: {reason}.",
            None,
            None,
            "",
            None,
            None,
            False,
        )
        for (kind, reason), tasks in reasons.items()
    ]
