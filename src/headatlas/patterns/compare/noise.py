"""The noise of maps, of all heads together, and what it does to a statistic of two maps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from headatlas.patterns.maps import TaskMap
from headatlas.stats import FEWEST_GROUPS, Array, half_width

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

# From values [..., n] of the first map and [..., m] of the second to the statistic [...].
Statistic = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class Noise:
    """The noise of a map with n heads: `parts` [set, n] and the name of its examples, as in `headatlas.noise`.

    `stderr` [n] may hold more than the parts do, such as the error of drawing examples to measure exactly.
    """

    parts: Array
    examples: str
    stderr: Array

    @cached_property
    def sizes(self) -> Array:
        """[n]: the standard error that the parts imply."""
        return np.sqrt(np.square(self.parts).sum(0))

    @cached_property
    def beyond(self) -> Array:
        """[n]: what the standard errors hold beyond the parts."""
        return np.sqrt(np.maximum(0.0, np.square(self.stderr) - np.square(self.sizes)))

    def scaled(self, sizes: Array) -> Array:
        """Parts that imply errors of these sizes [n]."""
        return self.parts * np.divide(sizes, self.sizes, out=np.zeros_like(sizes), where=self.sizes > 0)

    @cached_property
    def total(self) -> Array:
        """Parts that imply the whole error."""
        return self.scaled(np.hypot(self.sizes, self.beyond))

    def only(self, heads: np.ndarray) -> Noise:
        return replace(self, parts=self.parts[:, heads], stderr=self.stderr[heads])


def read_noise(atlas: Atlas, method: str, measure: str, task_map: TaskMap, seed: int | None = None) -> Noise | None:
    """The noise of a map; None where the atlas does not hold it, or holds several seeds and none is chosen."""
    rows = atlas.noise
    for column, value in (("method", method), ("measure", measure), ("task", task_map.task)):
        rows = rows[rows[column] == value]
    rows = rows if seed is None else rows[rows["seed"] == seed]
    if rows.empty or rows["seed"].nunique() > 1:
        return None
    grid = np.full((int(rows["set"].max()) + 1, *task_map.shape), np.nan)
    grid[rows["set"], rows["layer"], rows["head"]] = rows["value"]
    parts = grid[:, task_map.layer, task_map.head]
    return Noise(parts, rows["examples"].iloc[0], task_map.stderr) if np.isfinite(parts).all() else None


def share_examples(first: Noise | None, second: Noise | None) -> bool:
    """Whether two maps are known to be of the same examples, so that their noise goes together."""
    if first is None or second is None or not first.examples:
        return False
    return first.examples == second.examples and len(first.parts) == len(second.parts)


def jackknife_error(statistic: Statistic, values: tuple[Array, Array], noises: tuple[Noise, Noise]) -> float:
    """The standard error of a statistic of two maps: what each set of examples changes, root of the sum of squares."""
    (a, b), (first, second) = values, noises
    observed = statistic(a, b)

    def squares(in_first: Array | float, in_second: Array | float) -> float:
        changed = statistic(a - np.atleast_2d(in_first), b - np.atleast_2d(in_second))
        return float(np.square(changed - observed).sum())

    if share_examples(first, second):
        apart = squares(first.scaled(first.beyond), 0.0) + squares(0.0, second.scaled(second.beyond))
        return float(np.sqrt(squares(first.parts, second.parts) + apart))
    return float(np.sqrt(squares(first.total, 0.0) + squares(0.0, second.total)))


def reach(first: Noise, second: Noise) -> float:
    """How many standard errors a 95 % interval reaches to each side; NaN where sets are too few."""
    sets = min(len(first.parts), len(second.parts))
    return half_width(sets) if sets >= FEWEST_GROUPS else float("nan")
