"""Causal head gating: gates learned on a frozen model, once urged to stay open and once to close."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from headatlas.errors import UsageError, unknown
from headatlas.methods.gate.cells import Kept, Masks, Problem, Wanted, held_out_nll, held_out_tokens, run_cells
from headatlas.methods.gate.consistency import consistency
from headatlas.methods.gate.descent import Descent
from headatlas.methods.gate.likelihood import TaskLoss, batches_of
from headatlas.methods.gate.roles import OPEN, roles
from headatlas.run.cells import Result
from headatlas.run.context import Diagnostic, HeadMap, Measured, Work
from headatlas.stats import Array, Summary, bootstrap_mean

# The sign of lambda in each stage: the penalty is -lambda * mean(logit), so a positive lambda rewards open gates.
STAGES = {"base": 0, "plus": 1, "minus": -1}
MASKS = ("base_soft", "plus_soft", "plus_binary", "minus_soft", "minus_binary")
CURVES = ("objective", "nll", "penalty", "open")


def check_stage(stage: str, strength: float) -> None:
    """Refuse a lambda whose sign belongs to another stage: with it the roles would be named the wrong way round."""
    if stage not in STAGES:
        raise unknown("stage", stage, STAGES)
    if np.sign(strength) != STAGES[stage]:
        wanted = {0: "exactly 0", 1: "above 0 (it rewards open gates)", -1: "below 0 (it rewards closed gates)"}
        raise UsageError(
            f"lambda = {strength:g} was given for the stage {stage!r}; it must be {wanted[STAGES[stage]]}."
        )


@dataclass(frozen=True, kw_only=True)
class Gate(Descent):
    """Causal Head Gating (Nam et al., arXiv 2505.13737).

    A gate G = sigmoid(logit) scales each query head at all positions. The loss is the mean negative log-likelihood of
    the answer tokens minus lambda times the mean of the logits clamped to +-`clamp`. It is fitted with lambda = 0 from
    a random start, and from there with +`strength` (`gate_plus`) and with -`strength` (`gate_minus`).
    Facilitation = G-, interference = 1 - G+, irrelevance = G+ (1 - G-).

    Fitted on `fit`, stopped by `choose`; the finished masks are scored on `evaluate`, soft and binarised at 0.5.
    `tasks` are those to fit where the work has them, all when empty. A fit has no sampling error of its own: standard
    errors and p-values are missing, and seeds show how much is a matter of the start. A binarised `gate_minus` counts
    as sufficient if it costs at most `sufficient` nats a token.
    """

    name: ClassVar[str] = "gate"
    least_tasks: ClassVar[int] = 1
    strength: float = 0.1
    tasks: tuple[str, ...] = ()
    sufficient: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_stage("plus", self.strength)

    def measure(self, work: Work) -> Measured:
        # A task that was left out as too hard leaves its place to none.
        tasks = [task for task in work.tasks if not self.tasks or task in self.tasks]
        fits = self.fits(work, tasks, [self.strength], range(self.seeds))
        measured = [self._report(work, task, own) for task, own in fits.items()]
        return Measured(
            [map_ for own in measured for map_ in own.maps], [entry for own in measured for entry in own.diagnostics]
        )

    def fits(
        self, work: Work, tasks: Sequence[str], strengths: Sequence[float], seeds: Sequence[int]
    ) -> dict[str, dict[Wanted, Kept]]:
        """All stages of every task and seed; from each base one pair of fits for every strength."""
        problems = {task: self._problem(work, task) for task in tasks}
        first = [Wanted(seed, "base", 0.0) for seed in seeds]
        base = run_cells(
            work,
            "Gates",
            {
                task: problem.cells(work, first, lambda fit: self.start(work.model.shape, fit.seed), self)
                for task, problem in problems.items()
            },
        )
        second = [
            Wanted(seed, stage, sign * strength)
            for seed in seeds
            for strength in strengths
            for stage, sign in STAGES.items()
            if sign
        ]
        for fit in second:
            check_stage(fit.stage, fit.strength)
        urged = run_cells(
            work,
            "Gates, urged to open or to close",
            {task: problem.cells(work, second, _starts(base[task]), self) for task, problem in problems.items()},
        )
        return {task: base[task] | urged[task] for task in tasks}

    def _problem(self, work: Work, task: str) -> Problem:
        fit, choose = (batches_of(work, task, split, self.batch) for split in ("fit", "choose"))
        loss = TaskLoss(work.model, fit, choose, self.checkpoint)
        return Problem("gate", f"task {task!r}", loss, [fit], choose, {})

    def held_out(
        self, work: Work, task: str, fits: Sequence[Sequence[Kept]]
    ) -> tuple[Diagnostic, list[dict[str, Diagnostic]]]:
        """Mean likelihood of an answer token on `evaluate`: of the full model, and under each of MASKS for every entry
        of `fits`, which holds the three stages."""
        open_gates = Masks(torch.ones(1, *work.model.shape), "open")
        masks = [Masks(_masks(stages), [kept.key for kept in stages]) for stages in fits]
        (full, *masked) = held_out_nll(work, task, [open_gates, *masks], "Gates on held-out examples")
        tokens, groups = held_out_tokens(work, task), work.groups(task, "evaluate")

        def entry(metric: str, seed: int, sums: Array) -> Diagnostic:
            low, high = bootstrap_mean(sums, groups, tokens)
            value = float(sums.sum() / tokens.sum())
            return Diagnostic(self.name, metric, value, task, seed, None, float(low), float(high))

        return entry("full_nll", 0, full[0]), [
            {mask: entry(f"{mask}_nll", place, sums) for mask, sums in zip(MASKS, own, strict=True)}
            for place, own in enumerate(masked)
        ]

    def _report(self, work: Work, task: str, fits: Mapping[Wanted, Kept]) -> Measured:
        """Maps and diagnostics of one task."""
        of = {(fit.seed, fit.stage): kept for fit, kept in fits.items()}
        full, held = self.held_out(work, task, [[of[seed, stage] for stage in STAGES] for seed in range(self.seeds)])
        found, maps, circuits, sufficient = [full], [], [], []
        for seed, own in enumerate(held):
            measures = roles(*(gates_of(of[seed, stage]) for stage in ("plus", "minus")))
            maps += [_map(measure, task, seed, work, values) for measure, values in measures.items()]
            circuits.append(measures["facilitation"].ravel() > OPEN)
            sufficient.append(own["minus_binary"].value <= full.value + self.sufficient)
            found += own.values()
            for stage in STAGES:
                found += _course(task, seed, stage, of[seed, stage].result)
        found += consistency(np.stack(circuits), sufficient, work.model.shape).diagnostics(self.name, task)
        return Measured(maps, found)


def gates_of(kept: Kept) -> Array:
    """The gates [layer, head] of a finished fit."""
    return torch.sigmoid(torch.from_numpy(np.array(kept.result["logits"]))).numpy()


def _starts(base: Mapping[Wanted, Kept]) -> Callable[[Wanted], Tensor]:
    logits = {fit.seed: torch.from_numpy(np.array(kept.result["logits"])) for fit, kept in base.items()}
    return lambda fit: logits[fit.seed]


def _masks(stages: Sequence[Kept]) -> Tensor:
    """The gates of MASKS [mask, layer, head], from the three stages."""
    base, plus, minus = (torch.from_numpy(gates_of(kept)) for kept in stages)
    return torch.stack([base, plus, (plus > OPEN).double(), minus, (minus > OPEN).double()])


def _map(measure: str, task: str, seed: int, work: Work, values: Array) -> HeadMap:
    missing = np.full(values.size, np.nan)
    return HeadMap(Gate.name, measure, task, seed, work.heads, Summary(values.ravel(), missing, missing, 0))


def _course(task: str, seed: int, stage: str, result: Result) -> list[Diagnostic]:
    """The curves of one fit: its parts at every step, the held-out likelihood at every look, and where it was best."""
    found = [
        Diagnostic(Gate.name, f"{stage}_{curve}", float(value), task, seed, step)
        for curve in CURVES
        for step, value in enumerate(result[curve])
    ]
    for step, value, reached in zip(result["look_steps"], result["look_nll"], result["look_objective"], strict=True):
        found.append(Diagnostic(Gate.name, f"{stage}_choose_nll", float(value), task, seed, int(step)))
        found.append(Diagnostic(Gate.name, f"{stage}_choose_objective", float(reached), task, seed, int(step)))
    found.append(Diagnostic(Gate.name, f"{stage}_best_step", float(result["best_step"][0]), task, seed))
    return found
