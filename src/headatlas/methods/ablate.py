"""Ablation: remove one head at a time and measure what the answer loses. Exact; the reference for all other maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

import numpy as np
import torch

from headatlas.errors import UsageError
from headatlas.methods.attribute import Attribute
from headatlas.model.heads import Baseline, HeadModel
from headatlas.run.baselines import Baselines, check_baseline
from headatlas.run.cells import Cell, Result
from headatlas.run.context import Head, Measured, Work, to_map
from headatlas.run.scoring import Batch
from headatlas.stats import Array

SPLIT = "choose"
FORWARD_TOKENS = 1536  # padded tokens in one forward: several heads ride in the rows of one batch


@dataclass(frozen=True)
class Ablate:
    """Log-probability of the answer, intact minus ablated, at all positions. Positive heads help the answer.

    `share` of the heads is ablated that attribution on `fit` calls strongest for the task, and as many others at
    random; 1 means every head. Effects are measured on `choose`, so that no head is tested on the examples that
    nominated it.
    """

    name: ClassVar[str] = "ablate"
    least_tasks: ClassVar[int] = 1
    baseline: str = "mean"
    share: float = 1.0
    seeds: int = 1

    def __post_init__(self) -> None:
        check_baseline(self.baseline)
        if not 0 < self.share <= 1:
            raise UsageError(f"A share of {self.share} of the heads was asked for; it must be above 0 and at most 1.")

    def measure(self, work: Work) -> Measured:
        heads = self.nominate(work)
        # Only resampling draws anything. Its draws are averaged for every example: less noise, the same observations.
        seeds = range(self.seeds if self.baseline == "resample" else 1)
        drawn = [self._effects(work, heads, seed) for seed in seeds]
        maps = [
            to_map(self.name, task, 0, heads[task], np.mean([own[task] for own in drawn], 0), work.groups(task, SPLIT))
            for task in work.tasks
        ]
        return Measured(maps)

    def nominate(self, work: Work) -> dict[str, list[Head]]:
        """The heads to ablate, by task, in order of layer."""
        if self.share == 1:
            return {task: list(work.heads) for task in work.tasks}
        chosen = {}
        for task, effects in Attribute(self.baseline).effects(work).items():
            count = max(1, round(self.share * len(work.heads)))
            order = np.argsort(-np.abs(effects.mean(0)), kind="stable")
            others = np.random.default_rng(0).permutation(order[count:])[:count]
            chosen[task] = [work.heads[i] for i in sorted([*order[:count], *others])]
        return chosen

    def _effects(self, work: Work, heads: dict[str, list[Head]], seed: int) -> dict[str, Array]:
        """Per task, the effects of its heads [example, head]."""
        baselines = Baselines(self.baseline, work, seed)

        def cell(task: str, batch: Batch) -> Cell:
            inputs = work.inputs(self.name, batch=batch.key, baseline=baselines.inputs(task), heads=heads[task])
            depth = sum(work.model.n_layers - layer for layer, _ in heads[task]) / work.model.n_layers
            return Cell(
                inputs,
                lambda: ablate_batch(work.model, batch, heads[task], baselines.of(task, batch)),
                round(batch.ids.numel() * (1 + depth)),
            )

        cells = {task: [cell(task, batch) for batch in work.batches(task, SPLIT)] for task in work.tasks}
        return work.run_by_batch("Ablation", SPLIT, cells, "effects")


@torch.inference_mode()
def ablate_batch(model: HeadModel, batch: Batch, heads: Sequence[Head], baseline: Baseline | None) -> Result:
    """Effects [example, head] for heads given in order of layer.

    What happens below a layer does not depend on its heads: it is computed once, and every forward starts at the layer
    of its heads. Each forward carries several heads, one per copy of the batch, through gates that differ by row.
    """
    with model.record_inputs() as inputs:
        intact, _ = batch.score(model)
    room = max(1, FORWARD_TOKENS // batch.ids.numel())
    columns = []
    for layer, same_layer in groupby(heads, key=lambda head: head[0]):
        own = [head for _, head in same_layer]
        for first in range(0, len(own), room):
            removed = own[first : first + room]
            copies = len(removed)
            gates = torch.ones(copies, *model.shape)
            gates[range(copies), layer, removed] = 0
            with (
                model.start_at(layer, inputs, copies),
                model.gate(gates.repeat_interleave(batch.size, 0), _copied(baseline, layer, copies)),
            ):
                ablated, _ = batch.repeat(copies).score(model)
            columns.append(intact - ablated.view(copies, batch.size))
    return {"effects": torch.cat(columns).T.contiguous().cpu().numpy()}


def _copied(baseline: Baseline | None, layer: int, copies: int) -> Baseline | None:
    """The baseline of one layer, repeated where it differs by row."""
    if baseline is None:
        return None
    values = baseline[layer]
    return {layer: values.repeat(copies, 1, 1, 1) if values.dim() == 4 else values}
