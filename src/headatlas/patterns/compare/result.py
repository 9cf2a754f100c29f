"""What a comparison holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from headatlas.patterns.compare.sides import Side, labels
from headatlas.patterns.finding import Head
from headatlas.stats import LEVEL, Array

By = Literal["heads", "depth"]
UNKNOWN = float("nan")


@dataclass(frozen=True)
class Estimate:
    """A number and its 95 % interval, which is NaN where it is not known."""

    value: float
    low: float = UNKNOWN
    high: float = UNKNOWN


@dataclass(frozen=True)
class ComparedTask:
    """One task in two maps.

    `units` counts what the correlation is over: heads, or parts of the depth. Of the first `k` heads of each map those
    in `shared` are the same, `by_chance` would be, and `p_value` is the chance of so many or more. `heads` has one row
    per head: layer, head, both values, their difference with interval, p and q; without a difference where none can be
    tested. By depth, `profiles` [side, part] are the shares of the mass, and `centres` the centre of mass of each side
    as a share of the depth, then first less second; what is about heads is empty.
    """

    task: str
    units: int
    correlation: Estimate
    same_examples: bool
    k: int = 0
    shared: tuple[Head, ...] = ()
    by_chance: float = UNKNOWN
    p_value: float = UNKNOWN
    heads: pd.DataFrame | None = None
    profiles: Array | None = None
    centres: tuple[Estimate, Estimate, Estimate] | None = None

    @property
    def tested(self) -> bool:
        """Whether differences of heads were tested."""
        return self.heads is not None and "p_value" in self.heads

    @property
    def differing(self) -> pd.DataFrame:
        """The rows of the heads that differ beyond noise (q below 0.05), the largest difference first."""
        if self.heads is None or not self.tested:
            return pd.DataFrame()
        rows = self.heads[self.heads["q_value"] < LEVEL]
        return rows.sort_values("difference", key=lambda difference: -difference.abs(), kind="stable")

    def row(self) -> dict[str, Any]:
        """The task as one row of a table."""
        row: dict[str, Any] = {"task": self.task, "units": self.units, "correlation": self.correlation.value,
                               "low": self.correlation.low, "high": self.correlation.high}  # fmt: skip
        if self.centres is not None:
            first, second, difference = self.centres
            return row | {"first_centre": first.value, "second_centre": second.value, "difference": difference.value,
                          "difference_low": difference.low, "difference_high": difference.high}  # fmt: skip
        return row | {"k": self.k, "shared": len(self.shared), "by_chance": self.by_chance, "p_value": self.p_value,
                      "differing": len(self.differing) if self.tested else None}  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """The maps of two sides, task by task; `remarks` say what could not be compared, and what to keep in mind."""

    first: Side
    second: Side
    by: By
    tasks: tuple[ComparedTask, ...]
    remarks: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, str]:
        """What each side is called."""
        return labels(self.first, self.second)

    @property
    def k(self) -> int:
        """How many first heads of each map were compared."""
        return max(task.k for task in self.tasks)

    def table(self) -> pd.DataFrame:
        """One row per task."""
        return pd.DataFrame([task.row() for task in self.tasks])

    def heads(self) -> pd.DataFrame:
        """One row per task and head; empty where heads cannot be compared."""
        tables = [task.heads.assign(task=task.task) for task in self.tasks if task.heads is not None]
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
