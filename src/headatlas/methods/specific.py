"""What is a head for? Effects as shares of a task, and the share of one task beyond that of the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from headatlas.methods.certify import Certified
from headatlas.stats import Summary, estimate


def shares(certified: Certified) -> Certified:
    """Effects over the sum of the task's positive effects, which stays sound where the intact margin is small."""
    summary = certified.summary
    total = float(np.clip(summary.mean, 0, None).sum())
    if total <= 0:
        return replace(certified, summary=Summary.bare(np.full_like(summary.mean, np.nan)))
    scaled = replace(
        summary,
        mean=summary.mean / total,
        stderr=summary.stderr / total,
        low=summary.low / total,
        high=summary.high / total,
    )
    return replace(certified, summary=scaled)


def specific(by_task: Mapping[str, Certified]) -> dict[str, Certified]:
    """The share of a head for a task less its mean share for the other tasks.

    Tasks have examples of their own, so their errors are independent and add up; degrees of freedom after Welch and
    Satterthwaite.
    """
    result = {}
    for task, certified in by_task.items():
        others = [other.summary for name, other in by_task.items() if name != task]
        summary = certified.summary
        value = summary.mean - np.mean([other.mean for other in others], 0)
        variances = [np.square(summary.stderr), *(np.square(other.stderr / len(others)) for other in others)]
        dfs = [summary.df, *(other.df for other in others)]
        variance = np.sum(variances, 0)
        parts = np.sum([np.square(v) / df for v, df in zip(variances, dfs, strict=True)], 0)
        df = np.divide(np.square(variance), parts, out=np.ones_like(variance), where=parts > 0)
        groups = min(summary.groups, *(other.groups for other in others))
        result[task] = replace(certified, summary=estimate(value, np.sqrt(variance), df, groups))
    return result
