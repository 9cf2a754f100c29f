"""Fitting a contrastive mask, and what it does to every task on held-out examples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from headatlas.atlas.records import Diagnostic, HeadMap
from headatlas.errors import unknown
from headatlas.intervals import mean_interval
from headatlas.methods.gate.cells import FitKey, Fitted, Masks, Problem, held_out_nll, run_fits
from headatlas.methods.gate.contrast import Contrast
from headatlas.methods.gate.descent import Draw
from headatlas.methods.gate.likelihood import (
    Portion,
    mean_nll,
    nll,
    nll_and_gradient,
    portion_of_step,
    task_portions,
    task_quantity,
)
from headatlas.methods.gate.roles import OPEN
from headatlas.methods.gate.stages import random_start
from headatlas.run.cells import CellKind
from headatlas.run.context import RunContext
from headatlas.stats import Summary

FIT = CellKind("contrast fit", 5)
STAGE = "contrast"
TITLE, HELD_OUT_TITLE = "Contrast", "Contrast on held-out examples"


def fit_contrast(contrast: Contrast, context: RunContext) -> list[Fitted]:
    """The finished fit of every seed."""
    wanted = contrast_keys(contrast, context)
    cells = problem(contrast, context).cells(context, wanted, random_start(contrast, context), contrast)
    return list(run_fits(context, TITLE, {contrast.keep: cells})[contrast.keep].values())


def contrast_keys(contrast: Contrast, context: RunContext) -> list[FitKey]:
    """One fit per seed; refused where the context does not have its tasks."""
    for task in (contrast.keep, contrast.forget):
        if task not in context.tasks:
            raise unknown("task", task, context.tasks)
    return [FitKey(seed, STAGE, contrast.penalty) for seed in range(contrast.seeds)]


def problem(contrast: Contrast, context: RunContext) -> Problem:
    """What is fitted: both tasks at once."""
    tasks = (contrast.keep, contrast.forget)
    data = [task_portions(task_quantity(context, task, "fit"), contrast.batch) for task in tasks]
    held = [task_portions(task_quantity(context, task, "choose"), contrast.batch, contrast.held) for task in tasks]
    loss = ContrastLoss(data, held, contrast.margin, contrast.checkpoint)
    label = f"keep {contrast.keep!r}, forget {contrast.forget!r}"
    more = {"margin": contrast.margin, "held_to_keep": len(held[0])}
    return Problem(FIT, label, loss, data, [*held[0], *held[1]], more)


def to_maps(contrast: Contrast, context: RunContext, fits: Sequence[Fitted]) -> list[HeadMap]:
    name, measure = contrast.info.name, contrast.info.primary
    return [
        HeadMap(name, measure, contrast.keep, seed, context.heads, Summary.bare(fit.gates.ravel()))
        for seed, fit in enumerate(fits)
    ]


def damage(contrast: Contrast, context: RunContext, fits: Sequence[Fitted]) -> list[Diagnostic]:
    """What the soft and the binarised mask of every seed do to every task of the suite, on `evaluate`: the change of
    the answers' log-probability; its intact value; and how many gates are closed."""
    name = contrast.info.name
    masks = []
    for fit in fits:
        soft = torch.from_numpy(fit.gates)
        masks.append(Masks(torch.stack([soft, (soft > OPEN).double()]), [fit.key]))
    entries = [
        Diagnostic(name, "closed", float((mask.gates[1] == 0).sum()), contrast.keep, seed)
        for seed, mask in enumerate(masks)
    ]
    for task in context.tasks:
        open_gates = Masks(torch.ones(1, *context.model.shape), "open")
        evaluate = task_quantity(context, task, "evaluate")
        (intact,), *masked = held_out_nll(evaluate, [open_gates, *masks], HELD_OUT_TITLE)
        entries.append(Diagnostic(name, "intact logprob", float(-intact.mean()), task))
        for seed, losses in enumerate(masked):
            change = intact - losses
            low, high = mean_interval(change.T, evaluate.groups)
            entries += [
                Diagnostic.with_interval(name, f"{mask} change", change[i].mean(), (low[i], high[i]), task, seed)
                for i, mask in enumerate(("soft", "binary"))
            ]
    return entries


class ContrastLoss:
    """NLL of one task plus what is missing of another's to its ceiling; `data` and `held` hold both tasks' portions."""

    def __init__(
        self,
        data: Sequence[Sequence[Portion]],
        held: Sequence[Sequence[Portion]],
        margin: float,
        checkpoint: bool = False,
    ):
        self.margin, self.checkpoint = margin, checkpoint
        (self.keep, self.forget), (self.held_keep, self.held_forget) = data, held

    @cached_property
    def ceiling(self) -> float:
        """Nats per token: the intact model's on what is to be forgotten plus the margin, at most a uniform guess."""
        model = self.forget[0].model
        intact = float(mean_nll(self.forget, torch.ones(1, *model.shape))[0])
        vocabulary = model.module.get_output_embeddings().weight.shape[0]
        return min(intact + self.margin, math.log(vocabulary))

    def train(self, draw: Draw, step: int) -> tuple[Tensor, Tensor]:
        keep, forget = portion_of_step(self.keep, step), portion_of_step(self.forget, step)
        total, ceiling = keep.weights.sum(), self.ceiling  # measured now: below, the model is gated
        likelihood, keep_gradient = nll_and_gradient(
            keep, draw(len(keep.batch.members)), lambda losses: losses.sum(1) / total, self.checkpoint
        )
        missing, forget_gradient = nll_and_gradient(
            forget,
            draw(len(forget.batch.members)),
            lambda losses: _missing(losses, forget, ceiling).mean(1),
            self.checkpoint,
        )
        return likelihood + missing, keep_gradient + forget_gradient

    @torch.no_grad()
    def held(self, gates: Tensor) -> Tensor:
        below = [_missing(nll(portion, gates), portion, self.ceiling) for portion in self.held_forget]
        return mean_nll(self.held_keep, gates) + torch.cat(below, 1).mean(1)


def _missing(losses: Tensor, portion: Portion, ceiling: float) -> Tensor:
    """How far each answer [fit, example] is below the ceiling."""
    return (ceiling - losses / portion.weights).clamp(min=0)
