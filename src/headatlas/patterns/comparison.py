"""Several tasks side by side, on the heads that were measured for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from headatlas.patterns.layer_profile import centre_of_mass, layer_shares
from headatlas.patterns.maps import TaskMap
from headatlas.patterns.nulls import Nulls
from headatlas.stats import Array

CHUNK = 5_000_000  # values of a null that are held at once


class TaskComparison:
    """The maps of several tasks that hold effects, with their nulls."""

    def __init__(self, nulls: Sequence[Nulls], rng: np.random.Generator):
        self.nulls, self.rng, self.draws = nulls, rng, nulls[0].draws
        self.maps: list[TaskMap] = [task_nulls.map for task_nulls in nulls]
        self.heads = len(self.maps[0].value)

    def tasks_from(self, i: int) -> tuple[str, ...]:
        """Task i, then the others."""
        return (self.maps[i].task, *(task_map.task for j, task_map in enumerate(self.maps) if j != i))

    def chunks(self, values_per_draw: int) -> Iterator[slice]:
        """All draws, in parts that fit into memory."""
        step = max(1, CHUNK // values_per_draw)
        for start in range(0, self.draws, step):
            yield slice(start, min(self.draws, start + step))

    @cached_property
    def typical_effects(self) -> Array:
        """The root mean square effect of every task, [task]."""
        mean_squares = [np.mean(np.square(task_nulls.effects, dtype=float)) for task_nulls in self.nulls]
        return np.maximum(np.sqrt(mean_squares), 1e-12)

    @cached_property
    def large(self) -> float:
        """The size that a tenth of all heads and tasks exceeds."""
        return float(np.quantile(np.concatenate([task_map.size for task_map in self.maps]), 0.9))

    @cached_property
    def exchanged(self) -> tuple[Array, Array]:
        """Shares of large effects and centres of mass, [draw, task] each, with the tasks exchanged at every head.

        One set of draws serves both.
        """
        large_shares, centres = (np.empty((self.draws, len(self.maps))) for _ in range(2))
        for part in self.chunks(len(self.maps) * self.heads):
            plain, relative = self._exchanged_effects(part.stop - part.start)
            for i, task_map in enumerate(self.maps):
                normal = self.rng.standard_normal((len(plain), self.heads), dtype=np.float32)
                noise = normal * task_map.stderr.astype(np.float32)
                large_shares[part, i] = (np.abs(plain[:, i] + noise) > self.large).mean(axis=1)
                centres[part, i] = centre_of_mass(layer_shares(task_map, np.abs(relative[:, i] + noise)))
        return large_shares, centres

    def _exchanged_effects(self, draws: int) -> tuple[np.ndarray, np.ndarray]:
        """Effects [draw, task, n] with the tasks exchanged: as they are, and relative to each map's size."""
        effects = np.stack([task_nulls.picked_effects(draws, self.rng) for task_nulls in self.nulls], axis=1)
        labels = np.tile(np.arange(len(self.nulls), dtype=np.int16)[None, :, None], (draws, 1, self.heads))
        labels = self.rng.permuted(labels, axis=1)
        scale = self.typical_effects.astype(np.float32)[None, :, None]
        return np.take_along_axis(effects, labels, axis=1), np.take_along_axis(effects / scale, labels, axis=1) * scale
