"""The fits of causal head gating: once urged to open, once to close, and in the published form first without either."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from headatlas.methods.gate.cells import FitKey, Fitted, Problem, run_fits
from headatlas.methods.gate.gate import STAGES, Gate, check_stage
from headatlas.methods.gate.likelihood import TaskLoss, task_portions, task_quantity
from headatlas.run.cells import CellKind
from headatlas.run.context import RunContext

FIT = CellKind("gate fit", 3)


def fit_stages(gate: Gate, context: RunContext, tasks: Sequence[str]) -> dict[str, dict[FitKey, Fitted]]:
    """All stages of every task and seed."""
    problems = {task: _problem(gate, context, task) for task in tasks}
    seeds = range(gate.seeds)
    base: dict[str, dict[FitKey, Fitted]] = {task: {} for task in tasks}
    if "base" in gate.stages:
        first = [FitKey(seed, "base", 0.0) for seed in seeds]
        start = _random_start(gate, context)
        base = run_fits(context, "Gates", {t: p.cells(context, first, start, gate) for t, p in problems.items()})
    second = [FitKey(seed, stage, sign * gate.strength) for seed in seeds for stage, sign in STAGES.items() if sign]
    for fit in second:
        check_stage(fit.stage, fit.penalty)
    urged = run_fits(
        context,
        "Gates, urged to open or to close",
        {
            task: problem.cells(context, second, _start_from(base[task]) or _random_start(gate, context), gate)
            for task, problem in problems.items()
        },
    )
    return {task: base[task] | urged[task] for task in tasks}


def _problem(gate: Gate, context: RunContext, task: str) -> Problem:
    fit, choose = (task_quantity(context, task, split, gate.metric, gate.baseline) for split in ("fit", "choose"))
    data, held = task_portions(fit, gate.batch), task_portions(choose, gate.batch, gate.held)
    return Problem(FIT, f"task {task!r}", TaskLoss(data, held, gate.checkpoint), [data], held, {})


def _random_start(gate: Gate, context: RunContext) -> Callable[[FitKey], Tensor]:
    return lambda fit: torch.from_numpy(gate.start(context.model.shape, fit.seed))


def _start_from(base: Mapping[FitKey, Fitted]) -> Callable[[FitKey], Tensor] | None:
    """Where the fits without penalty ended; None where there were none."""
    logits = {fit.seed: fitted.logits for fit, fitted in base.items()}
    return (lambda fit: logits[fit.seed]) if logits else None
