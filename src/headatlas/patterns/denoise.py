"""What the values of a map would be without their noise.

A map is its effects plus noise of known size. Comparing shapes with permuted *values* would make a finding of
late heads being measured less precisely. So the nulls permute *effects*, and put the noise of every head back
afterwards.

Effects are drawn from their posterior under a prior that is learned from the map itself: zero, or a normal distribution
with one of a series of widths, with weights fitted by EM (adaptive shrinkage; Stephens, Biostatistics 2017). A map of
pure noise gets effects of about zero, and its null is then the pure noise of its standard errors.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from headatlas.stats import Array

BANK = 64  # posterior draws of a map; nulls pick among them
ZERO_WEIGHT = 1.0  # pseudo-heads without an effect: in doubt there is none


def effect_draws(value: Array, stderr: Array, rng: np.random.Generator) -> np.ndarray:
    """Draws [BANK, n] of the effects behind values; the values themselves where no standard error is known."""
    if not (stderr > 0).any():
        return np.repeat(value[None], BANK, axis=0).astype(np.float32)
    stderr = np.maximum(stderr, 1e-3 * np.median(stderr[stderr > 0]))
    widths = _widths(value, stderr)
    posterior = _posterior(value, stderr, widths)
    uniform, chosen = rng.random((BANK, len(value))), np.zeros((BANK, len(value)), dtype=int)
    for below in np.cumsum(posterior, axis=1).T[:-1]:  # one width at a time: all at once take much memory
        chosen += uniform > below
    width = widths[chosen]
    shrink = width**2 / (width**2 + stderr**2)
    drawn = shrink * value + np.sqrt(shrink) * stderr * rng.standard_normal(chosen.shape)
    return drawn.astype(np.float32)


def _widths(value: Array, stderr: Array) -> Array:
    largest = 2 * np.sqrt(max(float(np.max(value**2 - stderr**2)), float(np.median(stderr)) ** 2))
    smallest = min(float(np.min(stderr)) / 4, largest / 2)
    steps = int(np.ceil(np.log2(largest / smallest) * 1.5))
    return np.concatenate([[0.0], np.geomspace(smallest, largest, min(max(steps, 2), 24))])


def _posterior(value: Array, stderr: Array, widths: Array) -> Array:
    """Posterior weight [n, width] of every width for every head."""
    log = stats.norm.logpdf(value[:, None], scale=np.sqrt(widths**2 + stderr[:, None] ** 2))
    likelihood = np.exp(log - log.max(axis=1, keepdims=True))
    weights = np.full(len(widths), 1 / len(widths))
    for _ in range(200):
        counts = weights * (likelihood.T @ (1 / (likelihood @ weights)))
        counts[0] += ZERO_WEIGHT
        updated = counts / counts.sum()
        if np.abs(updated - weights).max() < 1e-5:
            break
        weights = updated
    joint = likelihood * weights
    return joint / joint.sum(axis=1, keepdims=True)
