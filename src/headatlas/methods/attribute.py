"""Attribution: a first-order estimate of every head's ablation effect, in one forward and one backward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from headatlas.model.heads import Baseline, HeadModel
from headatlas.run.baselines import Baselines, check_baseline
from headatlas.run.cells import Cell, Result
from headatlas.run.context import Measured, Work, to_map
from headatlas.run.scoring import Batch
from headatlas.stats import Array

SPLIT = "fit"


@dataclass(frozen=True)
class Attribute:
    """Gradient times activation of the answer's log-probability (Michel et al. 2019; attribution patching, Nanda 2023).

    With a gate g on a head, z' = g z + (1 - g) b. At g = 1, d log p / dg is the sum over positions of
    (z - b) . d log p / dz: to first order, what the answer would lose if the head were replaced by its baseline b.
    Positive heads help the answer.
    A gate for every row, layer and head gives all of these, per example, from one backward. Measured on `fit`.
    """

    name: ClassVar[str] = "attribute"
    least_tasks: ClassVar[int] = 1
    baseline: str = "mean"

    def __post_init__(self) -> None:
        check_baseline(self.baseline)

    def measure(self, work: Work) -> Measured:
        maps = [
            to_map(self.name, task, 0, work.heads, effects, work.groups(task, SPLIT))
            for task, effects in self.effects(work).items()
        ]
        return Measured(maps)

    def effects(self, work: Work) -> dict[str, Array]:
        """Per task, per example: the estimated effect of each head [example, layer * head]."""
        baselines = Baselines(self.baseline, work)

        def cell(task: str, batch: Batch) -> Cell:
            inputs = work.inputs(self.name, batch=batch.key, baseline=baselines.inputs(task))
            return Cell(
                inputs,
                lambda: attribute_batch(work.model, batch, baselines.of(task, batch)),
                # The backward through frozen weights costs about as much as the forward.
                2 * batch.ids.numel(),
            )

        cells = {task: [cell(task, batch) for batch in work.batches(task, SPLIT)] for task in work.tasks}
        return work.run_by_batch("Attribution", SPLIT, cells, "effects")


def attribute_batch(model: HeadModel, batch: Batch, baseline: Baseline | None) -> Result:
    """d log p(answer) / d gate for every row, layer and head: [example, layer * head] in float64."""
    gates = torch.ones(batch.size, *model.shape, requires_grad=True)
    with torch.enable_grad(), model.gate(gates, baseline):
        logprobs, _ = batch.score(model)
        (gradient,) = torch.autograd.grad(logprobs.sum(), gates)
    return {"effects": gradient.flatten(1).double().cpu().numpy()}
