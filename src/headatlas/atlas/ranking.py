"""The one rule by which heads are ranked, for tables, `top`, report, page and tests alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headatlas.atlas.declarations import MethodInfo
from headatlas.stats import Array


def head_order(values: Array, method: MethodInfo, measure: str) -> NDArray[np.int64]:
    """Indices of the heads, first in rank first; equal heads keep their order.

    The primary measure is ranked as its method declares, all other measures with the largest value first. Values are
    signed: a head that hurts a task most comes last, not first.
    """
    ascending = method.order == "ascending" and measure == method.primary
    return np.argsort(values if ascending else -values, kind="stable")


def head_ranks(values: Array, method: MethodInfo, measure: str) -> NDArray[np.int64]:
    """The rank of every head, 1 for the first."""
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[head_order(values, method, measure)] = np.arange(1, len(values) + 1)
    return ranks
