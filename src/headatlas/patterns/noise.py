"""The noise of maps, of all heads together, and what it does to a statistic of two maps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headatlas.intervals import FEWEST_GROUPS
from headatlas.patterns.maps import TaskMap
from headatlas.stats import Array, half_width

# From values [..., n] of the first map and [..., m] of the second to the statistic [...].
Statistic = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class NoisyMap:
    """A map with its noise: `parts` [set, n] and the name of its examples, as in `headatlas.noise`."""

    map: TaskMap
    parts: Array
    examples: str

    @cached_property
    def beyond(self) -> Array:
        """[n]: the standard deviation of what the standard errors hold beyond the parts, such as that of drawing the
        examples that are measured exactly."""
        return np.sqrt(np.maximum(0.0, np.square(self.map.stderr) - np.square(self.parts).sum(0)))

    @cached_property
    def parts_beyond(self) -> Array:
        """The same as parts: larger in proportion."""
        sizes = np.sqrt(np.square(self.parts).sum(0))
        return self.parts * np.divide(self.beyond, sizes, out=np.zeros_like(sizes), where=sizes > 0)

    @cached_property
    def every_part(self) -> Array:
        """Parts as large as the standard errors."""
        sizes = np.sqrt(np.square(self.parts).sum(0))
        return self.parts * np.divide(
            np.hypot(sizes, self.beyond), sizes, out=np.zeros_like(sizes), where=sizes > 0
        )


def share_noise(first: NoisyMap, second: NoisyMap) -> bool:
    """Whether both maps are of the same examples, so that their noise goes together."""
    return bool(first.examples) and first.examples == second.examples and first.parts.shape == second.parts.shape


def jackknife_error(statistic: Statistic, first: NoisyMap, second: NoisyMap) -> float:
    """The standard error of a statistic of two maps: what each set of examples changes, root of the sum of squares."""
    a, b = first.map.value, second.map.value
    observed = statistic(a, b)

    def squares(in_first: Array, in_second: Array) -> float:
        return float(np.square(statistic(a - in_first, b - in_second) - observed).sum())

    if share_noise(first, second):
        together = squares(first.parts, second.parts)
        apart = squares(first.parts_beyond, np.zeros(1)) + squares(np.zeros(1), second.parts_beyond)
        return float(np.sqrt(together + apart))
    return float(np.sqrt(squares(first.every_part, np.zeros(1)) + squares(np.zeros(1), second.every_part)))


def reach(first: NoisyMap, second: NoisyMap) -> float:
    """How many standard errors a 95 % interval reaches to each side; NaN where sets are too few."""
    sets = min(len(first.parts), len(second.parts))
    return half_width(sets) if sets >= FEWEST_GROUPS else float("nan")
