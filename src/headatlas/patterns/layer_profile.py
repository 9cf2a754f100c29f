"""How the mass of a map, the sum of |value|, is spread over the layers."""

from __future__ import annotations

import numpy as np

from headatlas.patterns.maps import TaskMap
from headatlas.stats import Array


def layer_shares(task_map: TaskMap, size: Array) -> Array:
    """The share of the mass in every layer: [..., n] to [..., layer]."""
    is_in_layer = np.zeros((len(task_map.layer), task_map.shape[0]), dtype=size.dtype)
    is_in_layer[np.arange(len(task_map.layer)), task_map.layer] = 1
    mass = (size @ is_in_layer).astype(float)
    total = mass.sum(axis=-1, keepdims=True)
    return mass / np.where(total > 0, total, 1)


def layer_means(task_map: TaskMap, size: Array) -> Array:
    """The mean of a layer's measured heads: [n] to [layer]; NaN for a layer of which no head was measured."""
    layers = task_map.shape[0]
    measured = np.bincount(task_map.layer, minlength=layers)
    totals = np.bincount(task_map.layer, weights=size, minlength=layers)
    return np.divide(totals, measured, out=np.full(layers, np.nan), where=measured > 0)


def centre_of_mass(shares: Array) -> Array:
    """The centre of mass in layers, of shares [..., layer]."""
    return shares @ np.arange(shares.shape[-1], dtype=float)


def spread_of_mass(shares: Array) -> Array:
    """The standard deviation in layers about the centre of mass."""
    layers = np.arange(shares.shape[-1], dtype=float)
    return np.sqrt((shares * (layers - centre_of_mass(shares)[..., None]) ** 2).sum(axis=-1))
