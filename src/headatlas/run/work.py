"""What a run will do, before it does it: the cells of each step, and a runner that only notes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headatlas.progress import Reporter
from headatlas.run.cells import Cell, Result, Runner
from headatlas.run.crew import Crew

if TYPE_CHECKING:
    from headatlas.model.memory import Load

OVERHEAD = 26  # tokens that take about as long as what every forward costs besides its tokens


@dataclass(frozen=True)
class Step:
    """Cells that a run will hand to its runner under one title.

    Where they depend on what will be measured, `most` is the largest number of tokens that they can come to and `cells`
    are what is to be expected; where `most` is None, they are exactly the cells of the run. `loads` are the forwards
    that decide how much memory they take, a batch of usual size where none are given; `beside` are bytes besides them.
    """

    title: str
    cells: Sequence[Cell]
    most: int | None = None
    loads: Sequence[Load] = ()
    beside: int = 0


class _Unmeasured(dict[str, NDArray[Any]]):
    """The result of a cell that did not run: whatever is asked for is empty."""

    def __missing__(self, name: str) -> NDArray[Any]:
        return np.zeros(0)


class NotingRunner(Runner):
    """Runs nothing and writes nothing: the cells it is given are noted as `steps`, and their results are empty."""

    def __init__(self, crew: Crew | None = None) -> None:
        super().__init__(Path(), Reporter(quiet=True), crew=crew or Crew())
        self.steps: list[Step] = []

    def run(self, title: str, cells: Sequence[Cell]) -> list[Result]:
        self.steps.append(Step(title, cells))
        return [_Unmeasured() for _ in cells]
