"""The maps of an atlas for the page: every seed, seeds joined, ranks, and the colour scales of all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from headatlas.atlas.ranking import head_ranks
from headatlas.patterns.kinds.sparsity import heads_holding
from headatlas.stats import LEVEL, Array
from headatlas.views.page.encoding import number, packed, packed_floats, packed_halves, packed_q, packed_ranks
from headatlas.views.page.seeds import Joined, join, take
from headatlas.views.scale import scale_ticks, scale_top
from headatlas.wording import significant

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

MEAN, ALWAYS, ANY = "mean", "always", "any"  # beside these, a view is the number of a seed


@dataclass(frozen=True)
class SeedMaps:
    """One measure of one task by one method. Arrays are [seed, head], heads in the order layer * heads + head."""

    method: str
    measure: str
    task: str
    zero_to_one: bool
    layers: int
    seeds: tuple[int, ...]
    value: Array
    low: Array
    high: Array
    q_value: Array

    @cached_property
    def joined(self) -> Joined | None:
        return join(self.value) if len(self.seeds) > 1 else None

    @cached_property
    def mean(self) -> Array:
        return _mean(self.value, axis=0)

    @cached_property
    def views(self) -> dict[str, Array]:
        """Every way to look at the seeds, [head] each."""
        if self.joined is None:
            return {MEAN: self.value[0]}
        joins = {ALWAYS: take(self.value, self.joined.always), ANY: take(self.value, self.joined.any)}
        seeds = {str(seed): values for seed, values in zip(self.seeds, self.value, strict=True)}
        return {MEAN: self.mean, **joins, **seeds}


def read_seed_maps(atlas: Atlas) -> list[SeedMaps]:
    layers, heads = atlas.shape
    size = layers * heads
    seed_maps = []
    for (method, measure, task), rows in atlas.maps.items():
        seeds, seed_index = np.unique(rows["seed"].to_numpy(), return_inverse=True)
        at = (seed_index, rows["layer"].to_numpy() * heads + rows["head"].to_numpy())
        columns = (rows["value"], rows["low"], rows["high"], rows["q_value"])
        arrays = []
        for column in columns:
            array = np.full((len(seeds), size), np.nan)
            array[at] = column.to_numpy()
            arrays.append(array)
        zero_to_one = atlas.info(method).measure(measure).zero_to_one
        seed_maps.append(SeedMaps(method, measure, task, zero_to_one, layers, tuple(map(int, seeds)), *arrays))
    return seed_maps


def describe_maps(seed_maps: Sequence[SeedMaps]) -> list[dict[str, Any]]:
    return [_describe(seed_map) for seed_map in seed_maps]


def _describe(seed_map: SeedMaps) -> dict[str, Any]:
    joined = seed_map.joined
    # Shares from 0 to 1 have no more than three digits that mean anything.
    pack = packed_halves if seed_map.zero_to_one else packed_floats
    return {
        "method": seed_map.method,
        "measure": seed_map.measure,
        "task": seed_map.task,
        "seeds": [
            {
                "seed": seed,
                "value": pack(seed_map.value[i]),
                "low": packed_halves(seed_map.low[i]),
                "high": packed_halves(seed_map.high[i]),
                "q": packed_q(seed_map.q_value[i]),
                "distinct": int((seed_map.q_value[i] < LEVEL).sum()),
            }
            for i, seed in enumerate(seed_map.seeds)
        ],
        "mean": None if joined is None else pack(seed_map.mean),
        "joined": None if joined is None else _describe_joined(joined),
        "views": {view: _summary(values, seed_map.layers) for view, values in seed_map.views.items()},
    }


def _describe_joined(joined: Joined) -> dict[str, Any]:
    """Which seed is taken for what. Where no value is negative, Always is the least and Any the most: sent once."""
    packed_choices = {name: packed(choice) for name, choice in vars(joined).items()}
    choices = list(dict.fromkeys(packed_choices.values()))
    return {"choices": choices, **{name: choices.index(choice) for name, choice in packed_choices.items()}}


def _summary(values: Array, layers: int) -> dict[str, Any]:
    """Numbers about the sizes of a map: how many heads, their sum, how many hold half of it, the mean of each layer."""
    sizes = np.abs(values)
    finite = sizes[np.isfinite(sizes)]
    return {
        "measured": int(finite.size),
        "total": number(finite.sum()),
        "half": heads_holding(finite, 0.5) if finite.size else 0,
        "layers": packed_halves(np.nan_to_num(_mean(sizes.reshape(layers, -1), axis=1))),
    }


def _mean(values: Array, axis: int) -> Array:
    """The mean of what is not NaN; NaN where everything is."""
    known = np.isfinite(values)
    count = known.sum(axis=axis)
    total = np.where(known, values, 0).sum(axis=axis)
    return np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)


def describe_ranks(atlas: Atlas, seed_maps: Sequence[SeedMaps]) -> Iterator[dict[str, Any]]:
    """The one order of heads per method and task, by the mean over seeds of the measure that the method declares."""
    for seed_map in seed_maps:
        info = atlas.info(seed_map.method)
        if seed_map.measure == info.primary:
            measured = np.isfinite(seed_map.mean)
            ranks = np.zeros(measured.size, dtype=np.int64)
            ranks[measured] = head_ranks(seed_map.mean[measured], info, info.primary)
            measured_count = int(measured.sum())
            yield {"method": info.name, "task": seed_map.task, "measured": measured_count, **packed_ranks(ranks)}


@dataclass(frozen=True)
class Scale:
    """A colour scale: its top, and whether anything lies above it."""

    top: float
    clipped: bool

    def describe(self) -> dict[str, Any]:
        halves = [-self.top, -self.top / 2, 0.0, self.top / 2, self.top]
        return {
            "top": self.top,
            "sizes": [self._tick(value) for value in scale_ticks(self.top)],
            "signed": [self._tick(value) for value in halves],
        }

    def _tick(self, value: float) -> tuple[float, str]:
        beyond = self.clipped and math.isclose(abs(value), self.top)
        return value, significant(value) + ("+" if beyond else "")


def describe_scales(seed_maps: Sequence[Sequence[SeedMaps]]) -> dict[str, Any]:
    """The scales of a page: by method, measure and view one for all tasks together, and one for each task.

    Atlases that stand side by side share their scales. `scales` lists the different ones, the rest are indices of it.
    """
    numbered: dict[Scale, int] = {}
    table: dict[str, dict[str, Any]] = {}
    every_map = [seed_map for of_atlas in seed_maps for seed_map in of_atlas]
    for method, measure in dict.fromkeys((seed_map.method, seed_map.measure) for seed_map in every_map):
        maps = [seed_map for seed_map in every_map if (seed_map.method, seed_map.measure) == (method, measure)]
        fixed = Scale(1.0, False) if maps[0].zero_to_one else None
        by_view: dict[str, Any] = {}
        for view in dict.fromkeys(view for seed_map in maps for view in seed_map.views):
            sizes = _sizes(maps, view)
            shared = fixed or Scale(*scale_top(np.concatenate(list(sizes.values()))))
            by_task = {task: fixed or Scale(*scale_top(pool)) for task, pool in sizes.items()}
            by_view[view] = {
                "shared": numbered.setdefault(shared, len(numbered)),
                "tasks": {task: numbered.setdefault(scale, len(numbered)) for task, scale in by_task.items()},
            }
        table.setdefault(method, {})[measure] = by_view
    return {"scales": [scale.describe() for scale in numbered], "table": table}


def _sizes(maps: Sequence[SeedMaps], view: str) -> dict[str, Array]:
    """The sizes of all heads in a view, by task. A map of one seed is the same in every view."""
    sizes: dict[str, list[Array]] = {}
    for seed_map in maps:
        values = seed_map.views.get(view, seed_map.value[0] if len(seed_map.seeds) == 1 else None)
        if values is not None:
            sizes.setdefault(seed_map.task, []).append(np.abs(values))
    return {task: np.concatenate(arrays) for task, arrays in sizes.items()}
