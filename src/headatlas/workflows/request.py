"""What is asked of a map, checked before anything is loaded or written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headatlas.errors import UsageError
from headatlas.methods.base import Method
from headatlas.run.selection import FEWEST_EXAMPLES
from headatlas.suites import load_suite
from headatlas.suites.suite import Suite
from headatlas.workflows.choose_methods import choose_methods, usable_methods
from headatlas.workflows.presets import find_preset, split_limits


@dataclass(frozen=True)
class Request:
    """The suite with the tasks asked for, the methods with their settings, and examples per task in each split."""

    suite: Suite
    methods: tuple[Method, ...]
    limits: dict[str, int] | None


def check_request(
    suite: Suite | str | Path,
    methods: Sequence[str | Method] | None,
    preset: str,
    *,
    tasks: Sequence[str] | None = None,
    limit: int | None = None,
    seeds: int | None = None,
    metric: str | None = None,
    baseline: str | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    level: int | None = None,
) -> Request:
    """The parameters are those of `headatlas.map`."""
    find_preset(preset)
    for name, value, least in (("limit", limit, FEWEST_EXAMPLES), ("seeds", seeds, 1)):
        if value is not None and value < least:
            raise UsageError(f"`{name}` {value} was asked for; it must be at least {least}.")
    chosen = suite if isinstance(suite, Suite) else load_suite(suite, level)
    chosen = chosen.only(tasks) if tasks else chosen
    general = {"seeds": seeds, "metric": metric, "baseline": baseline}
    ready = choose_methods(methods, preset, chosen, settings or {}, general)
    usable_methods(ready, chosen.tasks, named=methods is not None)
    return Request(chosen, ready, split_limits(preset, limit))
