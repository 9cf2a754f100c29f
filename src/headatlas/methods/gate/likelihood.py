"""The negative log-likelihood of answers as a function of gates: its value, its gradient, and its batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext

import numpy as np
import torch
from torch import Tensor

from headatlas.errors import HeadAtlasError
from headatlas.model.heads import Baseline, HeadModel
from headatlas.run.batches import Batch, make_batches
from headatlas.run.context import RunContext
from headatlas.run.interventions import Gates, score_together

ORDER_SEED = 7  # of the order in which batches are visited: the same for all seeds, which are independent starts
# Takes the summed negative log-likelihood of every answer [fit, example]; returns a loss [fit].
Reduce = Callable[[Tensor], Tensor]


def nll(model: HeadModel, batch: Batch, gates: Tensor, baseline: Baseline | None = None) -> Tensor:
    """Negative log-likelihood of every answer [fit, example], summed over its tokens, under gates [fit, layer, head].

    Each fit has its own copy of the batch, and each row the gates of its fit.
    """
    logprobs, _ = score_together(model, batch, Gates(gates, baseline))
    return -logprobs


def nll_and_gradient(
    model: HeadModel, batch: Batch, gates: Tensor, reduce: Reduce, checkpoint: bool = False
) -> tuple[Tensor, Tensor]:
    """A loss [fit] made by `reduce` from the likelihoods [fit, example], and its gradient [fit, layer, head].

    Weights are frozen or left out of the graph's ends, so the backward costs about one forward; what was held for it
    is gone when this returns.
    """
    leaf = gates.detach().requires_grad_()
    intervention = Gates(leaf)
    memory = model.checkpointed() if checkpoint else nullcontext()
    # A checkpoint runs layers again during the backward: the gates must still be in place then.
    with torch.enable_grad(), intervention.applied(model, batch), memory:
        logprobs, _ = batch.repeat(len(gates)).score(model)
        value = reduce(-logprobs.view(len(gates), batch.size))
        (gradient,) = torch.autograd.grad(value.sum(), leaf)
    return value.detach(), gradient


def token_counts(batch: Batch) -> Tensor:
    """Scored tokens of every example [example], float64."""
    return torch.bincount(batch.slots, minlength=batch.size).double()


class TaskLoss:
    """The mean negative log-likelihood of the answer tokens of one task: the objective of causal head gating."""

    def __init__(self, model: HeadModel, fit: Sequence[Batch], choose: Sequence[Batch], checkpoint: bool = False):
        self.model, self.fit, self.choose, self.checkpoint = model, fit, choose, checkpoint

    def train(self, gates: Tensor, step: int) -> tuple[Tensor, Tensor]:
        batch = batch_of_step(self.fit, step)
        return nll_and_gradient(
            self.model, batch, gates, lambda sums: sums.sum(1) / len(batch.targets), self.checkpoint
        )

    def held(self, gates: Tensor) -> Tensor:
        return mean_nll(self.model, self.choose, gates)


@torch.no_grad()
def mean_nll(model: HeadModel, batches: Sequence[Batch], gates: Tensor) -> Tensor:
    """Mean negative log-likelihood of all answer tokens [fit], under gates [fit, layer, head]."""
    total = torch.zeros(len(gates), dtype=torch.float64)
    for batch in batches:
        total += nll(model, batch, gates).sum(1)
    return total / sum(len(batch.targets) for batch in batches)


def batch_of_step(batches: Sequence[Batch], step: int) -> Batch:
    """Every batch once per epoch; each epoch has its own order."""
    epoch, turn = divmod(step, len(batches))
    return batches[np.random.default_rng([ORDER_SEED, epoch]).permutation(len(batches))[turn]]


def task_batches(context: RunContext, task: str, split: str, size: int, most: int | None = None) -> list[Batch]:
    """The answers of a task in fixed batches of at most `size` examples of similar length, as equal as can be; of the
    first `most` examples."""
    encoded = [context.encoder.encode(example)[:1] for example in context.examples(task, split)[:most]]
    if not encoded:
        raise HeadAtlasError(
            f"Task {task!r} has no answer in its {split!r} split, so no gate can be fitted to it. Give it more groups."
        )
    encoded.sort(key=lambda options: len(options[0].tokens))
    chunks = np.array_split(np.arange(len(encoded)), -(-len(encoded) // size))
    longest = max(len(options[0].tokens) for options in encoded)
    return [batch for chunk in chunks for batch in make_batches([encoded[i] for i in chunk], size * longest)]
