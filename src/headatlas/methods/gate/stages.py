"""The three stages of causal head gating, and what their gates say on held-out examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from headatlas.atlas.records import Diagnostic, HeadMap
from headatlas.methods.base import Measured
from headatlas.methods.gate.cells import FitKey, Fitted, Masks, Problem, held_out_nll, held_out_tokens, run_fits
from headatlas.methods.gate.consistency import consistency
from headatlas.methods.gate.gate import STAGES, Gate, check_stage
from headatlas.methods.gate.likelihood import TaskLoss, task_batches
from headatlas.methods.gate.roles import OPEN, roles
from headatlas.run.cells import CellKind, Result
from headatlas.run.context import RunContext
from headatlas.stats import Array, Summary, bootstrap_mean

FIT = CellKind("gate fit", 2)
MASKS = ("base_soft", "plus_soft", "plus_binary", "minus_soft", "minus_binary")
CURVES = ("objective", "nll", "penalty", "open")


def fit_stages(gate: Gate, context: RunContext, tasks: Sequence[str]) -> dict[str, dict[FitKey, Fitted]]:
    """All stages of every task and seed."""
    problems = {task: _problem(gate, context, task) for task in tasks}
    seeds, shape = range(gate.seeds), context.model.shape
    first = [FitKey(seed, "base", 0.0) for seed in seeds]
    base = run_fits(
        context,
        "Gates",
        {
            task: problem.cells(context, first, lambda fit: torch.from_numpy(gate.start(shape, fit.seed)), gate)
            for task, problem in problems.items()
        },
    )
    second = [FitKey(seed, stage, sign * gate.penalty) for seed in seeds for stage, sign in STAGES.items() if sign]
    for fit in second:
        check_stage(fit.stage, fit.penalty)
    urged = run_fits(
        context,
        "Gates, urged to open or to close",
        {task: problem.cells(context, second, _starts(base[task]), gate) for task, problem in problems.items()},
    )
    return {task: base[task] | urged[task] for task in tasks}


def report(gate: Gate, context: RunContext, task: str, fits: Mapping[FitKey, Fitted]) -> Measured:
    """Maps and diagnostics of one task."""
    by_stage = {(fit.seed, fit.stage): fitted for fit, fitted in fits.items()}
    stages = [[by_stage[seed, stage] for stage in STAGES] for seed in range(gate.seeds)]
    full, held_out = _held_out(gate, context, task, stages)
    entries, maps, circuits, sufficient = [full], [], [], []
    for seed, masked in enumerate(held_out):
        measures = roles(*(by_stage[seed, stage].gates for stage in ("plus", "minus")))
        maps += [_map(measure, task, seed, context, values) for measure, values in measures.items()]
        circuits.append(measures["facilitation"].ravel() > OPEN)
        sufficient.append(masked["minus_binary"].value <= full.value + gate.sufficient)
        entries += masked.values()
        for stage in STAGES:
            entries += _course(task, seed, stage, by_stage[seed, stage].result)
    entries += consistency(np.stack(circuits), sufficient, context.model.shape).diagnostics(gate.info.name, task)
    return Measured(maps, entries)


def _problem(gate: Gate, context: RunContext, task: str) -> Problem:
    fit = task_batches(context, task, "fit", gate.batch)
    choose = task_batches(context, task, "choose", gate.batch, gate.held)
    loss = TaskLoss(context.model, fit, choose, gate.checkpoint)
    return Problem(FIT, f"task {task!r}", loss, [fit], choose, {})


def _held_out(
    gate: Gate, context: RunContext, task: str, fits: Sequence[Sequence[Fitted]]
) -> tuple[Diagnostic, list[dict[str, Diagnostic]]]:
    """Mean likelihood of an answer token on `evaluate`: of the full model, and under each of MASKS for every entry of
    `fits`, which holds the three stages of one seed."""
    open_gates = Masks(torch.ones(1, *context.model.shape), "open")
    masks = [Masks(_masks(stages), [fitted.key for fitted in stages]) for stages in fits]
    (full, *masked) = held_out_nll(context, task, [open_gates, *masks], "Gates on held-out examples")
    tokens, groups = held_out_tokens(context, task), context.groups(task, "evaluate")

    def entry(metric: str, seed: int, sums: Array) -> Diagnostic:
        low, high = bootstrap_mean(sums, groups, tokens)
        value = float(sums.sum() / tokens.sum())
        return Diagnostic(gate.info.name, metric, value, task, seed, low=float(low), high=float(high))

    return entry("full_nll", 0, full[0]), [
        {mask: entry(f"{mask}_nll", seed, sums) for mask, sums in zip(MASKS, seed_sums, strict=True)}
        for seed, seed_sums in enumerate(masked)
    ]


def _starts(base: Mapping[FitKey, Fitted]) -> Callable[[FitKey], Tensor]:
    logits = {fit.seed: fitted.logits for fit, fitted in base.items()}
    return lambda fit: logits[fit.seed]


def _masks(stages: Sequence[Fitted]) -> Tensor:
    """The gates of MASKS [mask, layer, head], from the three stages."""
    base, plus, minus = (torch.from_numpy(fitted.gates) for fitted in stages)
    return torch.stack([base, plus, (plus > OPEN).double(), minus, (minus > OPEN).double()])


def _map(measure: str, task: str, seed: int, context: RunContext, values: Array) -> HeadMap:
    return HeadMap(Gate.info.name, measure, task, seed, context.heads, Summary.bare(values.ravel()))


def _course(task: str, seed: int, stage: str, result: Result) -> list[Diagnostic]:
    """The curves of one fit: its parts at every step, the held-out likelihood at every look, and where it was best."""

    def entry(metric: str, value: float, step: int | None = None) -> Diagnostic:
        return Diagnostic(Gate.info.name, f"{stage}_{metric}", float(value), task, seed, step=step)

    entries = [entry(curve, value, step) for curve in CURVES for step, value in enumerate(result[curve])]
    for step, nll, objective in zip(result["look_steps"], result["look_nll"], result["look_objective"], strict=True):
        entries.append(entry("choose_nll", nll, int(step)))
        entries.append(entry("choose_objective", objective, int(step)))
    return [*entries, entry("best_step", result["best_step"][0])]
