"""Maps as they would be if the claim were false. Draws are arrays [draw, n] of values, n the measured heads."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from headatlas.patterns.denoise import effect_draws
from headatlas.patterns.maps import TaskMap

Draws = np.ndarray[Any, np.dtype[np.float32]]

NOISE = "each with the noise of its own standard error"
ANYWHERE = f"the same effects on heads in random order, {NOISE}"
WITHIN_LAYERS = f"the same effects on heads in random order within their layers, {NOISE}"
DENSE = f"effects on all heads from one normal distribution of the same total size, {NOISE}"
TREND = f"normal effects of the size that is usual for the layer, {NOISE}"

NORMAL_MEDIAN = 0.6745  # the median of |x| where x is standard normal


class Nulls:
    """One map and its nulls, which are drawn when first asked for."""

    def __init__(self, task_map: TaskMap, draws: int, rng: np.random.Generator):
        self.map, self.draws, self.rng = task_map, draws, rng

    @cached_property
    def effects(self) -> Draws:
        """Posterior draws of the effects without noise, [bank, n]."""
        return effect_draws(self.map.value, self.map.stderr, self.rng)

    @cached_property
    def anywhere(self) -> Draws:
        """Effects exchanged between all heads: where a head is says nothing about its effect."""
        return self.rng.permuted(self.picked_effects(self.draws, self.rng), axis=1) + self.noise

    @cached_property
    def within_layers(self) -> Draws:
        """Effects exchanged between the heads of a layer: the layer profile stays, the rest is chance."""
        drawn = self.picked_effects(self.draws, self.rng)
        for heads in self.map.layer_slices:
            self.rng.permuted(drawn[:, heads], axis=1, out=drawn[:, heads])
        return drawn + self.noise

    def dense(self) -> Draws:
        """All heads take part: normal effects, of the map's total size."""
        width = np.sqrt(max(0.0, float(np.mean(self.map.value**2 - self.map.stderr**2))))
        return self._normal() * np.float32(width) + self.noise

    def trend(self, usual: np.ndarray) -> Draws:
        """Normal effects so wide that the layer's median |value| is `usual` [n]; noise with the tails of its df."""
        stderr, df = self.map.stderr, self.map.df
        layer_index = np.unique(self.map.layer, return_inverse=True)[1]
        usual_noise = np.array([np.median(stderr[heads]) for heads in self.map.layer_slices])[layer_index]
        width = np.sqrt(np.maximum(0.0, (usual / NORMAL_MEDIAN) ** 2 - usual_noise**2))
        noise = self._normal()
        if np.isfinite(df):
            half_df = np.float32(df / 2)
            noise /= np.sqrt(self.rng.standard_gamma(half_df, noise.shape, dtype=np.float32) / half_df)
        return self._normal() * width.astype(np.float32) + noise * stderr.astype(np.float32)

    @cached_property
    def noise(self) -> Draws:
        """One for all nulls of the map: they are never compared with each other."""
        return self._normal() * self.map.stderr.astype(np.float32)

    def picked_effects(self, draws: int, rng: np.random.Generator) -> Draws:
        """Effects without noise [draw, n], each row a random one of the posterior draws."""
        return self.effects[rng.integers(len(self.effects), size=draws)]

    def _normal(self) -> Draws:
        return self.rng.standard_normal((self.draws, len(self.map.value)), dtype=np.float32)
