"""The fits of causal head gating: once urged to open, once to close, and in the published form first without either."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from headatlas.methods.gate.cells import FitKey, Fitted, Problem, run_fits
from headatlas.methods.gate.gate import STAGES, Gate, check_stage
from headatlas.methods.gate.likelihood import TaskLoss, task_portions, task_quantity
from headatlas.methods.gate.settings import FitSettings
from headatlas.run.cells import CellKind
from headatlas.run.context import RunContext

FIT = CellKind("gate fit", 4)
TITLE, URGED_TITLE = "Gates", "Gates, urged to open or to close"


def fit_stages(gate: Gate, context: RunContext, tasks: Sequence[str]) -> dict[str, dict[FitKey, Fitted]]:
    """All stages of every task and seed."""
    problems = {task: problem(gate, context, task) for task in tasks}
    first, second = stage_keys(gate)
    random = random_start(gate, context)
    base: dict[str, dict[FitKey, Fitted]] = {task: {} for task in tasks}
    if first:
        base = run_fits(context, TITLE, {t: p.cells(context, first, random, gate) for t, p in problems.items()})
    urged = run_fits(
        context,
        URGED_TITLE,
        {t: p.cells(context, second, _start_from(base[t]) or random, gate) for t, p in problems.items()},
    )
    return {task: base[task] | urged[task] for task in tasks}


def stage_keys(gate: Gate) -> tuple[list[FitKey], list[FitKey]]:
    """The fits without penalty, where there are some, and those that are urged to open or to close."""
    seeds = range(gate.seeds)
    first = [FitKey(seed, "base", 0.0) for seed in seeds] if "base" in gate.stages else []
    second = [FitKey(seed, stage, sign * gate.strength) for seed in seeds for stage, sign in STAGES.items() if sign]
    for fit in second:
        check_stage(fit.stage, fit.penalty)
    return first, second


def problem(gate: Gate, context: RunContext, task: str) -> Problem:
    """What is fitted for one task."""
    fit, choose = (task_quantity(context, task, split, gate.metric, gate.baseline) for split in ("fit", "choose"))
    data, held = task_portions(fit, gate.batch), task_portions(choose, gate.batch, gate.held)
    return Problem(FIT, f"task {task!r}", TaskLoss(data, held, gate.checkpoint), [data], held, {})


def random_start(gate: FitSettings, context: RunContext) -> Callable[[FitKey], Tensor]:
    return lambda fit: torch.from_numpy(gate.start(context.model.shape, fit.seed))


def _start_from(base: Mapping[FitKey, Fitted]) -> Callable[[FitKey], Tensor] | None:
    """Where the fits without penalty ended; None where there were none."""
    logits = {fit.seed: fitted.logits for fit, fitted in base.items()}
    return (lambda fit: logits[fit.seed]) if logits else None
