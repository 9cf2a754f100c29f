"""Where the workers of a map run. A new kind is one file with a class and one line here."""

from __future__ import annotations

from typing import Any

from headatlas.errors import UsageError, unknown
from headatlas.workflows.executors.base import Executor
from headatlas.workflows.executors.local import Local
from headatlas.workflows.executors.ray import Ray
from headatlas.workflows.executors.slurm import Slurm

EXECUTORS: dict[str, Any] = {"local": Local, "ray": Ray, "slurm": Slurm}
TAKES = {
    "local": ("threads",),
    "ray": ("threads", "gpus", "address"),
    "slurm": ("threads", "gpus", "partition", "minutes"),
}

__all__ = ["EXECUTORS", "Executor", "Local", "Ray", "Slurm", "choose_executor"]


def choose_executor(name: str, workers: int | None = None, **options: Any) -> Executor | Slurm:
    """The executor of that name with the options that were given; those that are None are its own business."""
    if name not in EXECUTORS:
        raise unknown("executor", name, EXECUTORS)
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in TAKES[name]:
            raise UsageError(f"`{option}` was given, but the `executor` {name} has no use for it.")
    if workers is None and name != "local":
        raise UsageError(f"Say with `workers` how many the `executor` {name} shall start.")
    for option in ("workers", "threads", "minutes"):
        value = workers if option == "workers" else given.get(option)
        if value is not None and value < 1:
            raise UsageError(f"`{option}` {value} was asked for; it must be at least 1.")
    executor: Executor | Slurm = EXECUTORS[name](**({} if workers is None else {"workers": workers}), **given)
    return executor
