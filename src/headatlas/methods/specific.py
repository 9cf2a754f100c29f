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

    Tasks have examples of their own, so their errors are independent: variances and third moments add up. Degrees of
    freedom after Welch and Satterthwaite, but no more than those of the task itself, whose error is most of it: with
    more, one map of skewed noise in seven had a discovery.
    """
    result = {}
    for task, certified in by_task.items():
        others = [other.summary for name, other in by_task.items() if name != task]
        parts = [(1.0, certified.summary), *((-1 / len(others), other) for other in others)]  # weight, and of what
        value = np.sum([weight * part.mean for weight, part in parts], 0)
        errors = [weight * part.stderr for weight, part in parts]
        variance = np.sum(np.square(errors), 0)
        cubes = np.sum([error**3 * part.skewness for error, (_, part) in zip(errors, parts, strict=True)], 0)
        skewness = np.divide(cubes, variance**1.5, out=np.zeros_like(variance), where=variance > 0)
        spreads = np.sum([error**4 / part.df for error, (_, part) in zip(errors, parts, strict=True)], 0)
        welch = np.divide(np.square(variance), spreads, out=np.ones_like(variance), where=spreads > 0)
        df = np.minimum(welch, certified.summary.df)
        groups = min(part.groups for _, part in parts)
        result[task] = replace(certified, summary=estimate(value, np.sqrt(variance), df, groups, skewness))
    return result
