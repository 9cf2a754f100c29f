"""The maps and diagnostics of one task from its finished fits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from headatlas.atlas.records import Diagnostic, HeadMap
from headatlas.methods.base import Measured
from headatlas.methods.gate.cells import FitKey, Fitted
from headatlas.methods.gate.consistency import consistency
from headatlas.methods.gate.gate import Gate
from headatlas.methods.gate.likelihood import task_quantity
from headatlas.methods.gate.masks import score_masks
from headatlas.methods.gate.roles import OPEN, roles
from headatlas.methods.gate.stability import Stages, role_stability
from headatlas.run.cells import Result
from headatlas.run.context import RunContext
from headatlas.stats import Summary

CURVES = ("objective", "nll", "penalty", "open")


def report(
    gate: Gate, context: RunContext, task: str, fits: Mapping[FitKey, Fitted], others: Mapping[str, Stages]
) -> Measured:
    """Maps and diagnostics of one task; `others` are the fits that only say how stable roles are."""
    by_stage = {(fit.seed, fit.stage): fitted for fit, fitted in fits.items()}
    seeds = [{stage: by_stage[seed, stage] for stage in gate.stages} for seed in range(gate.seeds)]
    quantity = task_quantity(context, task, "evaluate", gate.metric, gate.baseline)
    held_out = score_masks(gate, quantity, seeds)
    entries, maps, circuits = list(held_out.entries), [], []
    for seed, stages in enumerate(seeds):
        measures = roles(stages["plus"].gates, stages["minus"].gates)
        maps += [
            HeadMap(gate.info.name, measure, task, seed, context.heads, Summary.bare(values.ravel()))
            for measure, values in measures.items()
        ]
        circuits.append(measures["facilitation"].ravel() > OPEN)
        for stage, fitted in stages.items():
            entries += _course(task, seed, stage, fitted.result)
    agreement = consistency(np.stack(circuits), held_out.sufficient, context.model.shape)
    entries += agreement.diagnostics(gate.info.name, task)
    entries += role_stability(gate, task, seeds, others)
    chosen = {task: quantity.record} if gate.metric or gate.baseline else {}
    return Measured(maps, entries, chosen, {task: held_out.doubt} if held_out.doubt else {})


def _course(task: str, seed: int, stage: str, result: Result) -> list[Diagnostic]:
    """The curves of one fit: its parts at every step, the held-out likelihood at every look, and where it was best."""

    def entry(metric: str, value: float, step: int | None = None) -> Diagnostic:
        return Diagnostic(Gate.info.name, f"{stage}_{metric}", float(value), task, seed, step=step)

    entries = [entry(curve, value, step) for curve in CURVES for step, value in enumerate(result[curve])]
    for step, nll, objective in zip(result["look_steps"], result["look_nll"], result["look_objective"], strict=True):
        entries.append(entry("choose_nll", nll, int(step)))
        entries.append(entry("choose_objective", objective, int(step)))
    return [*entries, entry("best_step", result["best_step"][0])]
