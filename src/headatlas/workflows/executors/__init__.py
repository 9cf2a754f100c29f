"""Where the workers of a map run. A new kind is one file with a class and one line here."""

from __future__ import annotations

from headatlas.workflows.executors.base import Executor
from headatlas.workflows.executors.local import Local

__all__ = ["Executor", "Local"]
