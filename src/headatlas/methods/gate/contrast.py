"""Contrastive gating: one mask that keeps a task and takes another away."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from headatlas.errors import UsageError, unknown
from headatlas.methods.gate.cells import Kept, Masks, Problem, Wanted, held_out_nll, run_cells
from headatlas.methods.gate.descent import Descent
from headatlas.methods.gate.gate import gates_of
from headatlas.methods.gate.likelihood import batch_of_step, batches_of, mean_nll, nll, nll_and_gradient, token_counts
from headatlas.methods.gate.roles import OPEN
from headatlas.model.heads import HeadModel
from headatlas.run.context import Diagnostic, HeadMap, Measured, Work
from headatlas.run.scoring import Batch
from headatlas.stats import Summary, bootstrap_mean

STAGE = "contrast"


@dataclass(frozen=True, kw_only=True)
class Contrast(Descent):
    """Gates G that keep the likelihood of `keep` and lower that of `forget` (arXiv 2505.13737, contrastive gating).

    The loss is NLL(keep) + mean over examples of max(0, ceiling - NLL(forget)) - `strength` * mean(clamp(logit)), where
    NLL is the mean over the tokens of an answer. The ceiling is `margin` nats above the intact model, and at most that
    of a uniform guess: without it the second term would have no bottom and the fit would run away. The penalty leaves
    open what makes no difference, so a closed gate means a head that `forget` needs and `keep` can spare.
    The map is called by the task that is kept, its measure is `gate`.
    """

    name: ClassVar[str] = "contrast"
    least_tasks: ClassVar[int] = 2
    keep: str
    forget: str
    strength: float = 0.1
    margin: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.keep == self.forget:
            raise UsageError(f"{self.keep!r} was asked to be kept and forgotten. Name two different tasks.")
        if self.strength < 0:
            raise UsageError(
                f"lambda = {self.strength:g} was given; a contrast leaves heads open: it must be 0 or more."
            )
        if not self.margin > 0:
            raise UsageError(
                f"A margin of {self.margin:g} nats was given; nothing would be forgotten. Give more than 0."
            )

    def measure(self, work: Work) -> Measured:
        missing = np.full(len(work.heads), np.nan)
        maps = []
        for seed, kept in enumerate(self.fits(work)):
            summary = Summary(gates_of(kept).ravel(), missing, missing, 0)
            maps.append(HeadMap(self.name, "gate", self.keep, seed, work.heads, summary))
        return Measured(maps, self.damage(work))

    def fits(self, work: Work) -> list[Kept]:
        """The finished fit of every seed."""
        for task in (self.keep, self.forget):
            if task not in work.tasks:
                raise unknown("task", task, work.tasks)
        problem = self._problem(work)
        wanted = [Wanted(seed, STAGE, self.strength) for seed in range(self.seeds)]
        cells = problem.cells(work, wanted, lambda fit: self.start(work.model.shape, fit.seed), self)
        return list(run_cells(work, "Contrast", {self.keep: cells})[self.keep].values())

    def _problem(self, work: Work) -> Problem:
        data = [batches_of(work, task, "fit", self.batch) for task in (self.keep, self.forget)]
        held = [batches_of(work, task, "choose", self.batch) for task in (self.keep, self.forget)]
        loss = ContrastLoss(work.model, data, held, self.margin, self.checkpoint)
        label = f"keep {self.keep!r}, forget {self.forget!r}"
        more = {"margin": self.margin, "kept": len(held[0])}
        return Problem("contrast", label, loss, data, [*held[0], *held[1]], more)

    def damage(self, work: Work) -> list[Diagnostic]:
        """What the soft and the binarised mask of every seed do to every task of the work, on `evaluate`: the change of
        the answers' log-probability; its intact value; and how many gates are closed."""
        fits = self.fits(work)
        masks = []
        for kept in fits:
            soft = torch.from_numpy(gates_of(kept))
            masks.append(Masks(torch.stack([soft, (soft > OPEN).double()]), [kept.key]))
        found = [
            Diagnostic(self.name, "closed", float((own.gates[1] == 0).sum()), self.keep, seed)
            for seed, own in enumerate(masks)
        ]
        for task in work.tasks:
            open_gates = Masks(torch.ones(1, *work.model.shape), "open")
            (intact,), *masked = held_out_nll(work, task, [open_gates, *masks], "Contrast on held-out examples")
            found.append(Diagnostic(self.name, "intact logprob", float(-intact.mean()), task))
            for seed, own in enumerate(masked):
                low, high = bootstrap_mean((intact - own).T, work.groups(task, "evaluate"))
                for place, mask in enumerate(("soft", "binary")):
                    change = float((intact - own[place]).mean())
                    row = (f"{mask} change", change, task, seed, None, float(low[place]), float(high[place]))
                    found.append(Diagnostic(self.name, *row))
        return found


class ContrastLoss:
    """NLL of one task plus what is missing of another's to its ceiling; `data` and `held` hold both tasks' batches."""

    def __init__(
        self,
        model: HeadModel,
        data: Sequence[Sequence[Batch]],
        held: Sequence[Sequence[Batch]],
        margin: float,
        checkpoint: bool = False,
    ):
        self.model, self.margin, self.checkpoint = model, margin, checkpoint
        (self.keep, self.forget), (self.held_keep, self.held_forget) = data, held

    @cached_property
    def ceiling(self) -> float:
        """Nats a token: the intact model's on what is to be forgotten plus the margin, at most a uniform guess."""
        intact = float(mean_nll(self.model, self.forget, torch.ones(1, *self.model.shape))[0])
        vocabulary = self.model.module.get_output_embeddings().weight.shape[0]
        return min(intact + self.margin, math.log(vocabulary))

    def train(self, gates: Tensor, step: int) -> tuple[Tensor, Tensor]:
        keep, forget = batch_of_step(self.keep, step), batch_of_step(self.forget, step)
        kept, gradient = nll_and_gradient(
            self.model, keep, gates, lambda sums: sums.sum(1) / len(keep.targets), self.checkpoint
        )
        missing, other = nll_and_gradient(
            self.model, forget, gates, lambda sums: self._missing(sums, forget).mean(1), self.checkpoint
        )
        return kept + missing, gradient + other

    @torch.no_grad()
    def held(self, gates: Tensor) -> Tensor:
        missing = torch.cat([self._missing(nll(self.model, own, gates), own) for own in self.held_forget], 1)
        return mean_nll(self.model, self.held_keep, gates) + missing.mean(1)

    def _missing(self, sums: Tensor, batch: Batch) -> Tensor:
        """How far each answer [fit, example] is below the ceiling."""
        return (self.ceiling - sums / token_counts(batch)).clamp(min=0)
