"""What an executor is: it starts workers beside the driver, says which it has lost, and ends them.

Workers are told nothing but where the order is. They follow the same run as the driver, and share cells with it through
a store (`headatlas.run.store`); so an executor never sees a cell.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol


class Executor(Protocol):
    """`workers` counts the driver, which computes cells too."""

    workers: int

    def enter(self) -> int:
        """Before the model is loaded: leave the driver its share of this machine. Returns threads per worker."""

    def start(self, out: Path, order: Any) -> None:
        """Start the other workers. Called once there is something to compute."""

    def lost(self) -> list[str]:
        """What there is to say of workers that were lost since it was asked last, one sentence for each."""

    def stop(self) -> None:
        """End the workers that are still there, and give the driver back what `enter` took."""
