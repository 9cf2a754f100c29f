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
from headatlas.methods.gate.masks import run_masks, score_masks
from headatlas.methods.gate.roles import OPEN, roles
from headatlas.methods.gate.stability import Stages, role_stability
from headatlas.run.cells import Result
from headatlas.run.context import RunContext
from headatlas.run.quantity import TaskQuantity
from headatlas.stats import Summary

CURVES = ("objective", "nll", "penalty", "open")


def reports(
    gate: Gate,
    context: RunContext,
    fits: Mapping[str, Mapping[FitKey, Fitted]],
    others: Mapping[str, Mapping[str, Stages]],
) -> list[Measured]:
    """Of all tasks, whose masks are run together."""
    run_masks(context, ((_held_out(gate, context, task), _seeds(gate, of_task)) for task, of_task in fits.items()))
    return [report(gate, context, task, of_task, others[task]) for task, of_task in fits.items()]


def report(
    gate: Gate, context: RunContext, task: str, fits: Mapping[FitKey, Fitted], others: Mapping[str, Stages]
) -> Measured:
    """Maps and diagnostics of one task; `others` are the fits that only say how stable roles are."""
    seeds, quantity = _seeds(gate, fits), _held_out(gate, context, task)
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


def _seeds(gate: Gate, fits: Mapping[FitKey, Fitted]) -> list[dict[str, Fitted]]:
    """The fits of every seed, by stage."""
    by_stage = {(fit.seed, fit.stage): fitted for fit, fitted in fits.items()}
    return [{stage: by_stage[seed, stage] for stage in gate.stages} for seed in range(gate.seeds)]


def _held_out(gate: Gate, context: RunContext, task: str) -> TaskQuantity:
    return task_quantity(context, task, "evaluate", gate.metric, gate.baseline)


def _course(task: str, seed: int, stage: str, result: Result) -> list[Diagnostic]:
    """The curves of one fit: its parts at every step, the held-out likelihood at every look, and where it was best."""

    def entry(metric: str, value: float, step: int | None = None) -> Diagnostic:
        return Diagnostic(Gate.info.name, f"{stage}_{metric}", float(value), task, seed, step=step)

    entries = [entry(curve, value, step) for curve in CURVES for step, value in enumerate(result[curve])]
    for step, nll, objective in zip(result["look_steps"], result["look_nll"], result["look_objective"], strict=True):
        entries.append(entry("choose_nll", nll, int(step)))
        entries.append(entry("choose_objective", objective, int(step)))
    return [*entries, entry("best_step", result["best_step"][0])]
