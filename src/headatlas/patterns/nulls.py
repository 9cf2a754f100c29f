"""Maps as they would be if the claim were false. Draws are arrays [draw, n] of values, n the measured heads."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from headatlas.patterns.denoise import effect_draws
from headatlas.patterns.maps import TaskMap

Draws = np.ndarray[Any, np.dtype[np.float32]]

ANYWHERE = "the same effects on heads in random order, each with the noise of its own standard error"
WITHIN_LAYERS = (
    "the same effects on heads in random order within their layers, each with the noise of its own standard error"
)
DENSE = "effects on all heads from one normal distribution of the same total size, each with the noise of its own standard error"  # noqa: E501
TREND = "normal effects of the size that is usual for the layer, each with the noise of its own standard error"


class Nulls:
    """The nulls of one map, drawn when first asked for."""

    def __init__(self, found: TaskMap, draws: int, rng: np.random.Generator):
        self.map, self.draws, self.rng = found, draws, rng

    @cached_property
    def effects(self) -> Draws:
        """Posterior draws of the effects without noise, [bank, n]."""
        return effect_draws(self.map.value, self.map.stderr, self.rng)

    @cached_property
    def anywhere(self) -> Draws:
        """Effects exchanged between all heads: where a head is says nothing about its effect."""
        return self.rng.permuted(self._picked(), axis=1) + self.noise

    @cached_property
    def within_layers(self) -> Draws:
        """Effects exchanged between the heads of a layer: the layer profile stays, the rest is chance."""
        drawn = self._picked()
        for own in self.map.by_layer:
            self.rng.permuted(drawn[:, own], axis=1, out=drawn[:, own])
        return drawn + self.noise

    def dense(self) -> Draws:
        """All heads take part: normal effects, of the map's total size."""
        found = self.map
        width = np.sqrt(max(0.0, float(np.mean(found.value**2 - found.stderr**2))))
        return self._normal() * np.float32(width) + self.noise

    def trend(self, usual: np.ndarray) -> Draws:
        """Normal effects so wide that the layer's median |value| is `usual` [n]; noise with the tails of its df."""
        found = self.map
        place = np.unique(found.layer, return_inverse=True)[1]
        usual_noise = np.array([np.median(found.stderr[own]) for own in found.by_layer])[place]
        width = np.sqrt(np.maximum(0.0, (usual / 0.6745) ** 2 - usual_noise**2))
        tails = self._normal()
        if np.isfinite(found.df):
            shape = np.float32(found.df / 2)
            tails /= np.sqrt(self.rng.standard_gamma(shape, tails.shape, dtype=np.float32) / shape)
        return self._normal() * width.astype(np.float32) + tails * found.stderr.astype(np.float32)

    @cached_property
    def noise(self) -> Draws:
        """One for all nulls of the map: they are never compared with each other."""
        return self._normal() * self.map.stderr.astype(np.float32)

    def _picked(self) -> Draws:
        return self.effects[self.rng.integers(len(self.effects), size=self.draws)]

    def _normal(self) -> Draws:
        return self.rng.standard_normal((self.draws, len(self.map.value)), dtype=np.float32)
