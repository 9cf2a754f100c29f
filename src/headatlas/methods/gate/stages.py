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
from headatlas.methods.gate.settings import FitSettings
from headatlas.run.cells import CellKind, Result
from headatlas.run.context import RunContext
from headatlas.stats import Array, Summary, bootstrap_mean

FIT = CellKind("gate fit", 2)
MASKS = ("base_soft", "plus_soft", "plus_binary", "minus_soft", "minus_binary")
TITLE, URGED_TITLE, HELD_OUT_TITLE = "Gates", "Gates, urged to open or to close", "Gates on held-out examples"
CURVES = ("objective", "nll", "penalty", "open")


def fit_stages(gate: Gate, context: RunContext, tasks: Sequence[str]) -> dict[str, dict[FitKey, Fitted]]:
    """All stages of every task and seed."""
    problems = {task: problem(gate, context, task) for task in tasks}
    first, second = stage_keys(gate)
    start = random_starts(gate, context)
    base = run_fits(context, TITLE, {task: part.cells(context, first, start, gate) for task, part in problems.items()})
    urged = run_fits(
        context,
        URGED_TITLE,
        {task: part.cells(context, second, _starts(base[task]), gate) for task, part in problems.items()},
    )
    return {task: base[task] | urged[task] for task in tasks}


def stage_keys(gate: Gate) -> tuple[list[FitKey], list[FitKey]]:
    """The fits from a random start, and those that set out from them."""
    first = [FitKey(seed, "base", 0.0) for seed in range(gate.seeds)]
    second = [
        FitKey(seed, stage, sign * gate.penalty) for seed in range(gate.seeds) for stage, sign in STAGES.items() if sign
    ]
    for fit in second:
        check_stage(fit.stage, fit.penalty)
    return first, second


def random_starts(settings: FitSettings, context: RunContext) -> Callable[[FitKey], Tensor]:
    return lambda fit: torch.from_numpy(settings.start(context.model.shape, fit.seed))


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


def problem(gate: Gate, context: RunContext, task: str) -> Problem:
    """What is fitted for one task."""
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
    (full, *masked) = held_out_nll(context, task, [open_gates, *masks], HELD_OUT_TITLE)
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
