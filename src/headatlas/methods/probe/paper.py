"""The probe of Cognitive Mirrors: one projection shared by all heads, a hidden layer, gradient times activation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from headatlas.methods.probe.data import Labelling, Labels, ProbeData
from headatlas.methods.probe.fits import Fit, Fits
from headatlas.run.cells import Cell, CellKind, Result
from headatlas.run.context import RunContext

PAPER, EPOCHS_CHOSEN = CellKind("paper probe", 3), CellKind("epochs of the paper probe", 2)
TITLE, EPOCHS_TITLE = "Paper probe", "Epochs of the paper probe"
PROJECTED, HIDDEN, DROPOUT, LEARNING_RATE = 64, 512, 0.3, 1e-4
BATCH = 32
EPOCHS = 60  # at most; fewer where held-back examples have not got better for PATIENCE epochs
PATIENCE = 5
HELD_BACK = 5  # one group of `fit` in so many is held back to choose the number of epochs


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


def fit_bytes(context: RunContext) -> int:
    """What a fit holds besides the features: the weights of the hidden layer, their gradient, and two moments of it."""
    return 4 * 4 * HIDDEN * PROJECTED * len(context.heads)


def fit_paper(context: RunContext, data: ProbeData, shuffles: int, seeds: int) -> Fits:
    """All are trained for the same number of epochs. If each stopped by itself, those with shuffled labels would do so
    after a few epochs, and real values would be compared with a net that was hardly trained: half of the heads that
    carry nothing then had q < 0.05.
    """
    (chosen,) = context.runner.run(EPOCHS_TITLE, [epochs_cell(context, data)])
    epochs = int(chosen["epochs"][0])
    named = _labellings(data, shuffles, seeds)
    results = context.runner.run(TITLE, paper_cells(context, data, shuffles, seeds, epochs))
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
        notes=(("epochs", float(epochs)),),
    )


def epochs_cell(context: RunContext, data: ProbeData) -> Cell:
    """For how many epochs all probes are trained."""

    def compute() -> Result:
        return {"epochs": np.array([choose_epochs(data)])}

    rows = len(data.labels["fit"])
    return context.cell(EPOCHS_CHOSEN, compute, rows, forwards=0, data=data.key, most=EPOCHS)


def paper_cells(context: RunContext, data: ProbeData, shuffles: int, seeds: int, epochs: int) -> list[Cell]:
    """One cell per probe. None of them runs the model."""
    return [
        context.cell(
            PAPER,
            partial(_compute, data, labelling, seed, epochs),
            int(labelling.used.sum()),
            forwards=0,
            data=data.key,
            labels=kind,
            seed=seed,
            epochs=epochs,
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


def _compute(data: ProbeData, labelling: Labelling, seed: int, epochs: int) -> Result:
    probe = train(data, labelling, seed, epochs)
    contributions = contributions_of(probe, data.features["choose"], torch.from_numpy(labelling.choose))
    with torch.no_grad():
        logits = probe(data.features["evaluate"])
    return {"contributions": contributions.double().numpy(), "logits": logits.double().numpy()}


def train(data: ProbeData, labelling: Labelling, seed: int, epochs: int) -> PaperProbe:
    """A probe of the used `fit` examples, a function of the seed; the generator of torch is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        probe = PaperProbe(data.features["fit"].shape[1], data.features["fit"].shape[2], len(data.tasks))
        for number, _ in enumerate(_epochs(probe, data, labelling.fit, labelling.used), start=1):
            if number == epochs:
                break
        return probe.eval()


def choose_epochs(data: ProbeData, seed: int = 0) -> int:
    """The number of epochs that is best for held-back groups of `fit`, with the real labels.

    `choose` has no part in it: values are measured there, and would be the larger for having chosen the epoch.
    """
    names = np.unique(data.groups["fit"])
    back = np.random.default_rng([seed, 2]).permutation(names)[: max(1, len(names) // HELD_BACK)]
    held = np.isin(data.groups["fit"], back)
    x, y = data.features["fit"][torch.from_numpy(held)], torch.from_numpy(data.labels["fit"][held])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        probe = PaperProbe(data.features["fit"].shape[1], data.features["fit"].shape[2], len(data.tasks))
        losses: list[float] = []
        for _ in _epochs(probe, data, data.labels["fit"], ~held):
            with torch.no_grad():
                losses.append(nn.functional.cross_entropy(probe.eval()(x), y).item())
            if len(losses) == EPOCHS or len(losses) - 1 - int(np.argmin(losses)) == PATIENCE:
                break
    return 1 + int(np.argmin(losses))


def _epochs(probe: PaperProbe, data: ProbeData, labels: Labels, used: NDArray[np.bool_]) -> Iterator[None]:
    """AdamW on the cross-entropy of the used `fit` examples, epoch by epoch without an end."""
    chosen = torch.from_numpy(np.flatnonzero(used))
    x, y = data.features["fit"], torch.from_numpy(labels)
    # The first layer has millions of weights: steps that are not fused take longer than forward and backward.
    optimiser = torch.optim.AdamW(probe.parameters(), lr=LEARNING_RATE, fused=True)
    while True:
        probe.train()
        for batch in chosen[torch.randperm(len(chosen))].split(BATCH):
            optimiser.zero_grad()
            nn.functional.cross_entropy(probe(x[batch]), y[batch]).backward()
            optimiser.step()
        yield


def contributions_of(probe: PaperProbe, features: Tensor, labels: Tensor) -> Tensor:
    """mean over the 64 projected values p of d logit_c / dp * p, c the example's task: [example, head]."""
    projected = probe.project(features).detach().requires_grad_()
    logits = probe.classify(projected.flatten(1))
    (gradient,) = torch.autograd.grad(logits.gather(1, labels[:, None]).sum(), projected)
    return (gradient * projected.detach()).mean(-1)
