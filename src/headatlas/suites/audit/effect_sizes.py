"""How much a number or a property of the texts differs between tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats.contingency import association


def cohens_d(a: Sequence[float], b: Sequence[float]) -> float:
    """The difference of two means in pooled standard deviations, without sign.

    It is infinite if the means differ and the values within each sample do not.
    """
    gap = abs(float(np.mean(a) - np.mean(b)))
    spread = np.sqrt((np.var(a) * len(a) + np.var(b) * len(b)) / max(1, len(a) + len(b) - 2))
    return 0.0 if gap == 0 else float(gap / spread) if spread > 0 else float("inf")


def cramers_v(flags: Mapping[str, Sequence[bool]]) -> float:
    """How far a yes-or-no property depends on the task, from its flags by task: 0 not at all, 1 completely."""
    table = np.array([[sum(task_flags), len(task_flags) - sum(task_flags)] for task_flags in flags.values()])
    if len(table) < 2 or (table.sum(axis=0) == 0).any():
        return 0.0  # scipy has no value where all examples have the property, or none
    return float(association(table, method="cramer"))
