"""The probe of Cognitive Mirrors: one projection shared by all heads, a hidden layer, gradient times activation."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from headatlas.methods.probe.data import Labelling, ProbeData
from headatlas.methods.probe.fits import Fit, Fits
from headatlas.run.cells import Cell, CellKind, Result
from headatlas.run.context import RunContext

PAPER = CellKind("paper probe")
TITLE = "Paper probe"
PROJECTED, HIDDEN, DROPOUT, LEARNING_RATE = 64, 512, 0.3, 1e-4
BATCH = 32
EPOCHS = 60  # at most; fitting ends earlier where `choose` has not got better for PATIENCE epochs
PATIENCE = 5


class PaperProbe(nn.Module):
    """`head_dim -> 64` for every head alike, flattened, `512 -> ReLU -> Dropout -> tasks`."""

    def __init__(self, heads: int, head_dim: int, tasks: int):
        super().__init__()
        self.project = nn.Linear(head_dim, PROJECTED)
        self.classify = nn.Sequential(
            nn.Linear(heads * PROJECTED, HIDDEN), nn.ReLU(), nn.Dropout(DROPOUT), nn.Linear(HIDDEN, tasks)
        )

    def forward(self, features: Tensor) -> Tensor:
        """Logits [example, task] of features [example, head, head_dim]."""
        return self.classify(self.project(features).flatten(1))


def fit_paper(context: RunContext, data: ProbeData, shuffles: int, seeds: int) -> Fits:
    """Fitted on `fit`, stopped by `choose`."""
    named = _labellings(data, shuffles, seeds)
    results = context.runner.run(TITLE, paper_cells(context, data, shuffles, seeds))
    importance = np.stack(
        [_importance(data, labelling, result) for (_, _, labelling), result in zip(named, results, strict=True)]
    )
    null = slice(seeds, seeds + shuffles)
    hits = [result["logits"].argmax(-1) == data.labels["evaluate"] for result in results[null]]
    return Fits(
        real=[Fit(result["contributions"], result["logits"]) for result in results[:seeds]],
        null=importance[null],
        null_accuracy=np.array([hit.mean() for hit in hits]),
        halves=importance[seeds + shuffles :].reshape(seeds, 2, *importance.shape[1:]),
    )


def paper_cells(context: RunContext, data: ProbeData, shuffles: int, seeds: int) -> list[Cell]:
    """One cell per probe. None of them runs the model."""
    return [
        context.cell(
            PAPER,
            partial(_compute, data, labelling, seed),
            int(labelling.used.sum()),
            forwards=0,
            data=data.key,
            labels=kind,
            seed=seed,
        )
        for kind, seed, labelling in _labellings(data, shuffles, seeds)
    ]


def _labellings(data: ProbeData, shuffles: int, seeds: int) -> list[tuple[str, int, Labelling]]:
    """The real labels once per seed, then the shuffled ones and the halves."""
    named = [("real", seed, data.real()) for seed in range(seeds)]
    named += [("shuffled", seed, data.shuffled(seed)) for seed in range(shuffles)]
    return named + [(f"half {i}", seed, half) for seed in range(seeds) for i, half in enumerate(data.halves(seed))]


def _importance(data: ProbeData, labelling: Labelling, result: Result) -> np.ndarray:
    """Mean contribution of each head over the `choose` examples of each task: [task, head]."""
    return np.stack([result["contributions"][labelling.choose == task].mean(0) for task in range(len(data.tasks))])


def _compute(data: ProbeData, labelling: Labelling, seed: int) -> Result:
    probe = train(data, labelling, seed)
    contributions = contributions_of(probe, data.features["choose"], torch.from_numpy(labelling.choose))
    with torch.no_grad():
        logits = probe(data.features["evaluate"])
    return {"contributions": contributions.double().numpy(), "logits": logits.double().numpy()}


def train(data: ProbeData, labelling: Labelling, seed: int) -> PaperProbe:
    """A probe of the used `fit` examples, a function of the seed; the generator of torch is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _descend(data, labelling)


def _descend(data: ProbeData, labelling: Labelling) -> PaperProbe:
    """AdamW on the cross-entropy of `fit`; the weights that did best on `choose`."""
    used = torch.from_numpy(np.flatnonzero(labelling.used))
    x, y = data.features["fit"], torch.from_numpy(labelling.fit)
    held_x, held_y = data.features["choose"], torch.from_numpy(labelling.choose)
    probe = PaperProbe(x.shape[1], x.shape[2], len(data.tasks))
    optimiser = torch.optim.AdamW(probe.parameters(), lr=LEARNING_RATE)
    best, best_weights, waited = float("inf"), probe.state_dict(), 0
    for _ in range(EPOCHS):
        probe.train()
        for batch in used[torch.randperm(len(used))].split(BATCH):
            optimiser.zero_grad()
            nn.functional.cross_entropy(probe(x[batch]), y[batch]).backward()
            optimiser.step()
        probe.eval()
        with torch.no_grad():
            loss = nn.functional.cross_entropy(probe(held_x), held_y).item()
        waited = 0 if loss < best else waited + 1
        if loss < best:
            best, best_weights = loss, {name: value.clone() for name, value in probe.state_dict().items()}
        if waited == PATIENCE:
            break
    probe.load_state_dict(best_weights)
    return probe.eval()


def contributions_of(probe: PaperProbe, features: Tensor, labels: Tensor) -> Tensor:
    """mean over the 64 projected values p of d logit_c / dp * p, c the example's task: [example, head]."""
    projected = probe.project(features).detach().requires_grad_()
    logits = probe.classify(projected.flatten(1))
    (gradient,) = torch.autograd.grad(logits.gather(1, labels[:, None]).sum(), projected)
    return (gradient * projected.detach()).mean(-1)
