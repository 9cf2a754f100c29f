"""How many heads change their role: from seed to seed, from another mean of the start, and with more steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from headatlas.atlas.records import Diagnostic
from headatlas.methods.gate.cells import Fitted
from headatlas.methods.gate.gate import Gate
from headatlas.methods.gate.roles import OPEN, always, at_least_once, calls, roles
from headatlas.methods.gate.stages import fit_stages
from headatlas.run.context import RunContext
from headatlas.stats import Array

OTHER_MEAN = -2.0  # what is added to the mean of the start: from 2 to 0, half of all gates closed at random
Stages = Mapping[str, Fitted]  # by stage


def other_fits(gate: Gate, context: RunContext, tasks: Sequence[str]) -> dict[str, dict[str, Stages]]:
    """By task and by what differs, the fits of the first seed that `stability` asks for; empty where it does not."""
    others: dict[str, dict[str, Stages]] = {task: {} for task in tasks}
    for what, settings in other_settings(gate).items():
        for task, fits in fit_stages(settings, context, tasks).items():
            others[task][what] = {fit.stage: fitted for fit, fitted in fits.items()}
    return others


def other_settings(gate: Gate) -> dict[str, Gate]:
    """By what differs, the settings of the fits that only say how stable roles are."""
    if not gate.stability:
        return {}
    return {
        "start": replace(gate, seeds=1, init_mean=gate.init_mean + OTHER_MEAN),
        "steps": replace(gate, seeds=1, steps=2 * gate.steps),
    }


def role_stability(gate: Gate, task: str, seeds: Sequence[Stages], others: Mapping[str, Stages]) -> list[Diagnostic]:
    """`role_changes_*`: heads whose role differs. `always_*` and `any_*`: heads with a role in all or in some seeds."""

    def entry(metric: str, value: float) -> Diagnostic:
        return Diagnostic(gate.info.name, metric, float(value), task)

    measures = [roles(fits["plus"].gates, fits["minus"].gates) for fits in seeds]
    entries = []
    for role in ("facilitation", "interference"):
        stack = np.stack([values[role] for values in measures])
        entries.append(entry(f"always_{role}", _held(always(stack))))
        entries.append(entry(f"any_{role}", _held(at_least_once(stack))))
    pairs = [_changes(a, b) for a, b in combinations(seeds, 2)]
    if pairs:
        entries.append(entry("role_changes_seeds", float(np.mean(pairs))))
    return entries + [entry(f"role_changes_{what}", _changes(seeds[0], fits)) for what, fits in others.items()]


def _held(values: Array) -> int:
    return int((values > OPEN).sum())


def _changes(first: Stages, second: Stages) -> int:
    before, after = (calls(fits["plus"].gates, fits["minus"].gates) for fits in (first, second))
    return int((before != after).sum())
