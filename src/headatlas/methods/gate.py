"""Causal head gating: gates learned on a frozen model, once urged to stay open and once to close."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from headatlas.bootstrap import bootstrap_interval
from headatlas.cells import Cell, Result
from headatlas.errors import UsageError, unknown
from headatlas.methods.descent import Descent, descend
from headatlas.methods.gate_consistency import consistency
from headatlas.methods.gated_nll import TaskLoss, batches_of, fits_at_once, nll, token_counts
from headatlas.methods.work import Diagnostic, HeadMap, Measured, Work
from headatlas.roles import OPEN, roles
from headatlas.scoring import Batch
from headatlas.stats import Array, Summary

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
    strength: float = 0.1
    tasks: tuple[str, ...] = ()
    sufficient: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_stage("plus", self.strength)

    def measure(self, work: Work) -> Measured:
        tasks = [task for task in work.tasks if not self.tasks or task in self.tasks]
        plans = {task: Plan(work, task, self) for task in tasks}
        seeds = range(self.seeds)
        base = _run(
            work, "Gates", {task: plan.cells([(s, "base", 0.0) for s in seeds]) for task, plan in plans.items()}
        )
        wanted = [(s, stage, sign * self.strength) for s in seeds for stage, sign in STAGES.items() if sign]
        urged = _run(
            work,
            "Gates, open and closed",
            {task: plan.cells(wanted, _logits(base[task])) for task, plan in plans.items()},
        )
        measured = [self._report(plan, base[task] | urged[task]) for task, plan in plans.items()]
        return Measured(
            [map_ for own in measured for map_ in own.maps], [entry for own in measured for entry in own.diagnostics]
        )

    def _report(self, plan: Plan, fits: Mapping[FitKey, Kept]) -> Measured:
        """Maps and diagnostics of one task."""
        work, task, seeds = plan.work, plan.task, range(self.seeds)
        of = {(seed, stage): kept for (seed, stage, _), kept in fits.items()}
        (full, *masked), tokens = plan.held_out([[of[seed, stage] for stage in STAGES] for seed in seeds])
        groups = work.groups(task, "evaluate")
        found = [_nll("full_nll", task, 0, full, tokens, groups)]
        maps, facilitation, sufficient = [], [], []
        for seed in seeds:
            gates = {stage: _sigmoid(of[seed, stage].result["logits"]) for stage in STAGES}
            measures = roles(gates["plus"], gates["minus"])
            maps += [_map(measure, task, seed, work, values) for measure, values in measures.items()]
            facilitation.append(measures["facilitation"].ravel())
            for mask, values in zip(MASKS, masked[seed], strict=True):
                found.append(_nll(f"{mask}_nll", task, seed, values[None], tokens, groups))
            sufficient.append(found[-1].value <= found[0].value + self.sufficient)
            for stage in STAGES:
                found += _course(task, seed, stage, of[seed, stage].result)
        circuits = np.stack(facilitation) > OPEN
        found += consistency(circuits, sufficient, work.model.shape).diagnostics(self.name, task)
        return Measured(maps, found)


FitKey = tuple[int, str, float]  # seed, stage, lambda


@dataclass(frozen=True)
class Kept:
    """The result of a finished fit and the key of its cell."""

    key: str
    result: Result


class Plan:
    """The fits of one task: their data, their cells, and the score of the finished masks."""

    def __init__(self, work: Work, task: str, settings: Descent):
        self.work, self.task, self.settings = work, task, settings
        self.fit = batches_of(work, task, "fit", settings.batch)
        self.choose = batches_of(work, task, "choose", settings.batch)
        self.loss = TaskLoss(work.model, self.fit, self.choose, settings.checkpoint)

    def cells(self, wanted: Sequence[FitKey], base: Mapping[int, Tensor] | None = None) -> dict[FitKey, Cell]:
        """A cell for each fit. Fits that share a batch are computed together, once, and written one by one."""
        for _, stage, strength in wanted:
            check_stage(stage, strength)
        room = fits_at_once(self.fit)
        cells: dict[FitKey, Cell] = {}
        for first in range(0, len(wanted), room):
            cells |= self._together(wanted[first : first + room], base)
        return cells

    def _together(self, group: Sequence[FitKey], base: Mapping[int, Tensor] | None) -> dict[FitKey, Cell]:
        shape, settings = self.work.model.shape, self.settings

        @cache
        def fitted() -> list[Result]:
            starts = [settings.start(shape, seed) if base is None else base[seed] for seed, _, _ in group]
            names = [f"task {self.task!r}, seed {seed}, stage {stage}" for seed, stage, _ in group]
            fits = descend(self.loss, torch.stack(starts), [strength for _, _, strength in group], settings, names)
            return [fit.result() for fit in fits]

        # Rounding depends on what shares a batch, so that is part of what a result depends on.
        inputs = self.work.inputs("gate", **self.described(), together=[list(key) for key in group])
        # A step costs a forward and a backward, a look a forward.
        tokens = settings.steps * (2 + 1 / settings.check) * max(batch.ids.numel() for batch in self.fit)
        return {
            key: Cell(inputs | {"fit": list(key)}, lambda place=place: fitted()[place], round(tokens))  # type: ignore[misc]
            for place, key in enumerate(group)
        }

    def described(self) -> dict[str, object]:
        """What every fit of the task depends on besides its seed, its stage and its lambda."""
        settings = {key: value for key, value in asdict(self.settings).items() if key in SETTINGS}
        data = {split: [batch.key for batch in own] for split, own in (("fit", self.fit), ("choose", self.choose))}
        return {"data": data, "settings": settings}

    def held_out(self, fits: Sequence[Sequence[Kept]]) -> tuple[list[Array], Array]:
        """On `evaluate`: the likelihoods of the full model [1, example], then for every seed those under each of MASKS
        [mask, example], all summed over tokens; and the number of tokens [example]."""
        work, task = self.work, self.task
        batches = work.batches(task, "evaluate")
        keys = [batch.key for batch in batches]
        full = torch.ones(1, *work.model.shape)
        cells = [self._scored(batches, full, work.inputs("gated", batches=keys, gates="open"))]
        for stages in fits:
            inputs = work.inputs("gated", batches=keys, gates=[kept.key for kept in stages], masks=MASKS)
            cells.append(self._scored(batches, _masks(*(kept.result["logits"] for kept in stages)), inputs))
        results = work.runner.run("Gates on held-out examples", cells)
        tokens = work.per_example(task, "evaluate", [token_counts(batch).numpy() for batch in batches])
        return [work.per_example(task, "evaluate", [result["nll"]]).T for result in results], tokens

    def _scored(self, batches: Sequence[Batch], gates: Tensor, inputs: Mapping[str, object]) -> Cell:
        model = self.work.model

        @torch.inference_mode()
        def compute() -> Result:
            return {"nll": torch.cat([nll(model, batch, gates) for batch in batches], 1).T.contiguous().numpy()}

        return Cell(inputs, compute, len(gates) * sum(batch.ids.numel() for batch in batches))


# The settings that numbers of a fit depend on; how many seeds there are is not one of them.
SETTINGS = tuple(key for key in Descent.__dataclass_fields__ if key not in ("seeds", "checkpoint"))


def _run(work: Work, title: str, cells: Mapping[str, Mapping[FitKey, Cell]]) -> dict[str, dict[FitKey, Kept]]:
    results = iter(work.runner.run(title, [cell for own in cells.values() for cell in own.values()]))
    return {task: {key: Kept(cell.key, next(results)) for key, cell in own.items()} for task, own in cells.items()}


def _logits(fits: Mapping[FitKey, Kept]) -> dict[int, Tensor]:
    return {seed: torch.from_numpy(np.array(kept.result["logits"])) for (seed, _, _), kept in fits.items()}


def _masks(base: Array, plus: Array, minus: Array) -> Tensor:
    """The gates of MASKS [mask, layer, head]."""
    soft = {
        name: torch.sigmoid(torch.from_numpy(np.array(x))) for name, x in zip(STAGES, (base, plus, minus), strict=True)
    }
    hard = {name: (gates > OPEN).double() for name, gates in soft.items()}
    return torch.stack([soft["base"], soft["plus"], hard["plus"], soft["minus"], hard["minus"]])


def _sigmoid(logits: Array) -> Array:
    return torch.sigmoid(torch.from_numpy(np.array(logits))).numpy()


def _map(measure: str, task: str, seed: int, work: Work, values: Array) -> HeadMap:
    missing = np.full(values.size, np.nan)
    return HeadMap(Gate.name, measure, task, seed, work.heads, Summary(values.ravel(), missing, missing, 0))


def _nll(metric: str, task: str, seed: int, sums: Array, tokens: Array, groups: Sequence[str]) -> Diagnostic:
    """Mean over tokens of likelihoods [1, example], with its interval."""
    low, high = bootstrap_interval(sums.T, groups, tokens)
    value = float(sums.sum() / tokens.sum())
    return Diagnostic(Gate.name, metric, value, task, seed, None, float(low[0]), float(high[0]))


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
