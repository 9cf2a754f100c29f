"""What a removed head is replaced by: nothing, its mean, or what it does on another example.

Zero is off the distribution that the next layers expect; the mean removes what the head says about this example and
keeps the rest; resampling also keeps its variance. All are taken from the `fit` split.
"""

from __future__ import annotations

import hashlib

import numpy as np
import torch
from torch import Tensor

from headatlas.model.heads import Baseline, HeadModel
from headatlas.run.batches import Batch
from headatlas.run.cells import Cell, CellKind, Result
from headatlas.run.context import RunContext
from headatlas.run.settings import SET_BASELINES, check_baseline

MEAN = CellKind("mean of heads")
Prompted = tuple[list[int], list[int]]  # the tokens of a prompt, and of the row that begins with it
RESAMPLED = 2  # raise it when the same seed draws or aligns donors in another way


class Baselines:
    """The baseline of one kind for every batch of a run."""

    def __init__(self, kind: str, context: RunContext, seed: int = 0):
        check_baseline(kind, SET_BASELINES)
        self.kind, self.context, self.seed = kind, context, seed
        self._means: dict[str, Tensor] = {}
        if kind == "mean":
            cells = [self._mean_cell(task) for task in context.tasks]
            results = context.runner.run("Mean of every head", cells)
            self._means = {
                task: torch.from_numpy(result["mean"]) for task, result in zip(context.tasks, results, strict=True)
            }

    def inputs(self, task: str) -> dict[str, object]:
        """What the baseline of a task depends on, for the inputs of cells that use it."""
        if self.kind == "zero":
            return {"kind": "zero"}
        if self.kind == "mean":  # the key of the mean knows its examples and the version of its computation
            return {"kind": "mean", "cell": self._mean_cell(task).key}
        donors = [batch.key for batch in self.context.batches(task, "fit")]
        return {"kind": "resample", "version": RESAMPLED, "donors": donors, "seed": self.seed}

    def for_batch(self, task: str, batch: Batch) -> Baseline | None:
        """What replaces z in this batch: None for zero, [layer, head, head_dim], or {layer: z of other examples}."""
        if self.kind == "mean":
            return self._means[task]
        if self.kind == "resample":
            return self._donated(task, batch)
        return None

    def mean(self, task: str) -> Tensor:
        """The mean of every head on a task [layer, head, head_dim]; only for the kind `mean`."""
        return self._means[task]

    def _mean_cell(self, task: str) -> Cell:
        return mean_cell(self.context, self.context.batches(task, "fit"))

    def _donated(self, task: str, batch: Batch) -> dict[int, Tensor]:
        """z of another `fit` example for each row, aligned where the answer begins.

        All options of an example have the same donor at the same positions of the prompt: they are compared under one
        corruption.
        """
        prompts = _prompts(batch)
        pool = [donor for donors in self.context.batches(task, "fit") for donor in _prompts(donors)]
        donors = [_draw(self.seed, prompt, pool) for prompt, _ in prompts]
        ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for _, row in donors], batch_first=True)
        lengths = torch.tensor([len(row) for _, row in donors])[:, None]
        shift = torch.tensor([len(donor) - len(own) for (donor, _), (own, _) in zip(donors, prompts, strict=True)])
        position = torch.arange(batch.ids.shape[1]) + shift[:, None]
        position = torch.minimum(position.clamp(min=0), lengths - 1)
        rows = torch.arange(batch.size)[:, None]
        model, anywhere = self.context.model, torch.tensor([0])
        with (
            torch.no_grad(),
            model.only_logits(anywhere, anywhere),
            model.capture(reduce=lambda _, z: z[rows, position]) as donated,
        ):
            model.logits(ids)
        return donated


def mean_cell(context: RunContext, batches: list[Batch]) -> Cell:
    """The cell of the `mean` [layer, head, head_dim] of every head over texts."""
    tokens, keys = sum(batch.ids.numel() for batch in batches), [batch.key for batch in batches]
    return context.cell(MEAN, lambda: _mean(context.model, batches), tokens, forwards=len(batches), batches=keys)


def _prompts(batch: Batch) -> list[Prompted]:
    """Every row with the prompt of its example: what comes before the first token that is scored."""
    first = torch.full((len(batch.members),), batch.ids.shape[1])
    first = first.scatter_reduce(0, batch.owners[batch.slots], batch.positions, "amin") + 1
    rows = zip(batch.ids.tolist(), batch.lengths.tolist(), first[batch.row_owners].tolist(), strict=True)
    return [(ids[:end], ids[:length]) for ids, length, end in rows]


def _draw(seed: int, prompt: list[int], pool: list[Prompted]) -> Prompted:
    """The donor of a prompt: never itself, and a function of the seed, the prompt and the pool, not of its batch."""
    others = [donor for donor in pool if donor[0] != prompt]
    return others[int.from_bytes(hashlib.sha256(f"{seed}:{prompt}".encode()).digest()[:8], "big") % len(others)]


def _mean(model: HeadModel, batches: list[Batch]) -> Result:
    """Mean z over all positions of all examples: [layer, head, head_dim]."""
    total = torch.zeros(model.n_layers, model.n_heads, model.head_dim, dtype=torch.float64)
    count = 0
    for batch in batches:
        real = batch.real

        def add(layer: int, z: Tensor, real: Tensor = real) -> None:
            total[layer] += z[real.to(z.device)].cpu().double().sum(0)  # some devices have no float64

        with torch.inference_mode(), model.only_logits(batch.rows[:1], batch.positions[:1]), model.capture(reduce=add):
            model.logits(batch.ids)
        count += int(real.sum())
    return {"mean": (total / count).numpy().astype(np.float32)}
