"""Features for probes in which it is known what tells the tasks apart."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from headatlas.methods.probe.data import ProbeData
from headatlas.suites.suite import SPLITS

SIZES = {"fit": 24, "choose": 16, "evaluate": 16}  # examples of a task


def synthetic(
    carriers: Mapping[int, int] | None = None,
    tasks: int = 3,
    heads: int = 8,
    dim: int = 4,
    strength: float = 3.0,
    seed: int = 0,
    shared: float = 0.0,
    times: int = 1,
) -> ProbeData:
    """Noise, two examples to a group; head `carriers[c]` moves along an axis where the task is c.

    `shared` is the part of the noise that the examples of a group have in common; there are `times` the usual examples.
    """
    rng = np.random.default_rng(seed)
    features, labels, groups = {}, {}, {}
    for split in SPLITS:
        n = times * SIZES[split] * tasks
        labels[split] = np.repeat(np.arange(tasks), times * SIZES[split])
        numbers = np.arange(n) // 2
        noise = rng.normal(size=(n, heads, dim)) * np.sqrt(1 - shared)
        noise += (rng.normal(size=(n // 2, heads, dim)) * np.sqrt(shared))[numbers]
        for task, head in (carriers or {}).items():
            noise[labels[split] == task, head, task % dim] += strength
        features[split] = torch.tensor(noise, dtype=torch.float32)
        groups[split] = np.array([f"{split}/{number:03d}" for number in numbers])
    return ProbeData(tuple("ABCDEFGH"[:tasks]), features, labels, groups)


def heads_of(data: ProbeData) -> list[tuple[int, int]]:
    """As if all heads were in one layer."""
    return [(0, head) for head in range(data.features["fit"].shape[1])]
