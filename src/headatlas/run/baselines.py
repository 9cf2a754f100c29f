"""What a removed head is replaced by: nothing, its mean, or what it does on another example.

Zero is off the distribution the next layers expect; the mean removes what the head says about this example and keeps
the rest; resampling also keeps its variance. All come from the `fit` split.
"""

from __future__ import annotations

import hashlib

import numpy as np
import torch
from torch import Tensor

from headatlas.errors import unknown
from headatlas.model.heads import Baseline, HeadModel
from headatlas.run.cells import Cell, Result
from headatlas.run.context import Work
from headatlas.run.scoring import Batch

BASELINES = ("mean", "zero", "resample")


def check_baseline(kind: str) -> None:
    if kind not in BASELINES:
        raise unknown("baseline", kind, BASELINES)


class Baselines:
    """The baseline of one kind for every batch of a run."""

    def __init__(self, kind: str, work: Work, seed: int = 0):
        check_baseline(kind)
        self.kind, self.work, self.seed = kind, work, seed
        self._means: dict[str, Tensor] = {}
        if kind == "mean":
            cells = [self._mean_cell(task) for task in work.tasks]
            results = work.runner.run("Mean of every head", cells)
            self._means = {t: torch.from_numpy(r["mean"]) for t, r in zip(work.tasks, results, strict=True)}

    def inputs(self, task: str) -> dict[str, object]:
        """What the baseline of a task depends on, for the inputs of cells that use it."""
        source = [] if self.kind == "zero" else [batch.key for batch in self.work.batches(task, "fit")]
        return {"kind": self.kind, "source": source} | ({"seed": self.seed} if self.kind == "resample" else {})

    def of(self, task: str, batch: Batch) -> Baseline | None:
        """What replaces z in this batch: None for zero, [layer, head, head_dim], or {layer: z of other examples}."""
        if self.kind == "mean":
            return self._means[task]
        if self.kind == "resample":
            return self._donated(task, batch)
        return None

    def mean(self, task: str) -> Tensor:
        """The mean of every head on a task [layer, head, head_dim]; only of baselines of the kind `mean`."""
        return self._means[task]

    def _mean_cell(self, task: str) -> Cell:
        batches = self.work.batches(task, "fit")
        inputs = self.work.inputs("mean", batches=[batch.key for batch in batches])
        return Cell(inputs, lambda: _mean(self.work.model, batches), sum(batch.ids.numel() for batch in batches))

    def _donated(self, task: str, batch: Batch) -> dict[int, Tensor]:
        """z of another `fit` example for each row, lined up at the end, where the answer is predicted."""
        pool = [row for donor in self.work.batches(task, "fit") for row in _rows(donor)]
        chosen = [_draw(self.seed, row, pool) for row in _rows(batch)]
        ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in chosen], batch_first=True)
        lengths = torch.tensor([len(row) for row in chosen])[:, None]
        place = torch.arange(batch.ids.shape[1]) - batch.lengths[:, None] + lengths
        place = torch.minimum(place.clamp(min=0), lengths - 1)
        rows = torch.arange(batch.size)[:, None]
        model, anywhere = self.work.model, torch.tensor([0])
        with (
            torch.no_grad(),
            model.only_logits(anywhere, anywhere),
            model.capture(keep=lambda _, z: z[rows, place]) as donated,
        ):
            model.logits(ids)
        return donated


def _rows(batch: Batch) -> list[list[int]]:
    return [ids[:length] for ids, length in zip(batch.ids.tolist(), batch.lengths.tolist(), strict=True)]


def _draw(seed: int, row: list[int], pool: list[list[int]]) -> list[int]:
    """The donor of a row: never itself, and a function of the seed, the row and the pool, not of the batch it is in."""
    others = [donor for donor in pool if donor != row]
    return others[int.from_bytes(hashlib.sha256(f"{seed}:{row}".encode()).digest()[:8], "big") % len(others)]


def _mean(model: HeadModel, batches: list[Batch]) -> Result:
    """Mean z over all positions of all examples: [layer, head, head_dim]."""
    total = torch.zeros(model.n_layers, model.n_heads, model.head_dim, dtype=torch.float64)
    count = 0
    for batch in batches:
        real = batch.real

        def add(layer: int, z: Tensor, real: Tensor = real) -> None:
            total[layer] += z[real.to(z.device)].cpu().double().sum(0)  # some devices have no float64

        with torch.inference_mode(), model.only_logits(batch.rows[:1], batch.positions[:1]), model.capture(keep=add):
            model.logits(batch.ids)
        count += int(real.sum())
    return {"mean": (total / count).numpy().astype(np.float32)}
