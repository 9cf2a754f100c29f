"""The negative log-likelihood of answers as a function of gates: its value, its gradient, and its batches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from headatlas.errors import HeadAtlasError
from headatlas.methods.gate.descent import Draw
from headatlas.model.heads import HeadModel
from headatlas.model.memory import Load, within_memory
from headatlas.run.batches import BATCH_TOKENS, Batch, make_batches
from headatlas.run.context import RunContext
from headatlas.run.interventions import Gates, measure_together, where_scored
from headatlas.run.quantity import TaskQuantity, plan_quantity

ORDER_SEED = 7  # of the order in which batches are visited: the same for all seeds, which are independent starts
# Takes the negative log-likelihood of every example [fit, example]; returns a loss [fit].
Reduce = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Portion:
    """Examples that are run together: a batch whose members index the items of a quantity.

    With the metric "logprob" an example's negative log-likelihood is that of its answer, summed over tokens; with
    "margin" it is that of the answer among the answer and its foils, softplus(-margin), which is never below zero and
    so has a bottom.
    """

    quantity: TaskQuantity
    batch: Batch

    @property
    def model(self) -> HeadModel:
        return self.quantity.context.model

    @property
    def tokens(self) -> int:
        return self.batch.ids.numel()

    @property
    def forwards(self) -> int:
        """Of one `nll`, with what replaces heads."""
        return 1 + self.quantity.replacement_forwards

    def load(self, copies: int) -> Load:
        """What `nll` under so many gates holds in memory."""
        replaced = self.quantity.replacement_forwards * self.model.n_layers
        return Load(self.tokens, copies, places=len(self.batch.reading(self.model).whole), replaced=replaced)

    @property
    def inputs(self) -> dict[str, object]:
        """All that its numbers depend on besides the gates."""
        return {"batch": self.batch.key, **self.quantity.inputs(self.batch)}

    @cached_property
    def weights(self) -> Tensor:
        """[example], float64: the number of answer tokens, or 1 for a margin. A mean is a sum over the sum of these."""
        if self.quantity.metric == "margin":
            return torch.ones(len(self.batch.members), dtype=torch.float64)
        return torch.bincount(self.batch.slots, minlength=len(self.batch.owners)).double()

    def gated(self, gates: Tensor) -> Gates:
        """Gates [fit, layer, head], or [fit, example or 1, layer, head] where every example has its own; a closed one
        lets the quantity's baseline in."""
        if gates.dim() == 4:
            examples = gates.expand(-1, len(self.batch.members), -1, -1)
            gates = examples[:, self.batch.row_owners]
        replaced = self.quantity.replacement(self.batch)
        return Gates(gates, replaced.values, where=replaced.where)

    def nll(self, measured: Tensor) -> Tensor:
        """[..., example], from what is measured of every example."""
        return softplus(-measured) if self.quantity.metric == "margin" else -measured


def nll(portion: Portion, gates: Tensor) -> Tensor:
    """Negative log-likelihood of every example [fit, example] under gates, see `Portion.gated`."""
    return portion.nll(measure_together(portion.model, portion.batch, portion.gated(gates)))


def nll_and_gradient(
    portion: Portion, gates: Tensor, reduce: Reduce, checkpoint: bool = False
) -> tuple[Tensor, Tensor]:
    """A loss [fit] made by `reduce` from the likelihoods [fit, example], and its gradient [fit, layer, head], summed
    over examples; `gates` are [fit, example or 1, layer, head].

    Weights are frozen or left out of the graph's ends, so the backward costs about one forward; what was held for it
    is gone when this returns.
    """
    leaf = gates.detach().requires_grad_()
    model, batch, fits = portion.model, portion.batch, len(gates)
    memory = within_memory(model, replace(portion.load(fits), backward=True), checkpoint)
    # A checkpoint runs layers again during the backward: the gates must still be in place then.
    with torch.enable_grad(), where_scored(model), portion.gated(leaf).applied(model, batch), memory:
        value = reduce(portion.nll(batch.measured(model, fits)))
        (gradient,) = torch.autograd.grad(value.sum(), leaf)
    return value.detach(), gradient.sum(1)


class TaskLoss:
    """The mean negative log-likelihood of one task: per answer token as in causal head gating, or per example."""

    def __init__(self, fit: Sequence[Portion], choose: Sequence[Portion], checkpoint: bool = False):
        self.fit, self.choose, self.checkpoint = fit, choose, checkpoint

    def train(self, draw: Draw, step: int) -> tuple[Tensor, Tensor]:
        portion = portion_of_step(self.fit, step)
        gates, total = draw(len(portion.batch.members)), portion.weights.sum()
        return nll_and_gradient(portion, gates, lambda losses: losses.sum(1) / total, self.checkpoint)

    def held(self, gates: Tensor) -> Tensor:
        return mean_nll(self.choose, gates)


@torch.no_grad()
def mean_nll(portions: Sequence[Portion], gates: Tensor) -> Tensor:
    """Mean negative log-likelihood of all answer tokens or examples [fit], under gates [fit, layer, head]."""
    total = torch.zeros(len(gates), dtype=torch.float64)
    for portion in portions:
        total += nll(portion, gates).sum(1)
    return total / sum(float(portion.weights.sum()) for portion in portions)


def portion_of_step(portions: Sequence[Portion], step: int) -> Portion:
    """Every portion once per epoch; each epoch has its own order."""
    epoch, turn = divmod(step, len(portions))
    return portions[np.random.default_rng([ORDER_SEED, epoch]).permutation(len(portions))[turn]]


def task_quantity(
    context: RunContext, task: str, split: str, metric: str | None = None, baseline: str | None = None
) -> TaskQuantity:
    """What gates are fitted to: the likelihood of the answer with zero for a removed head, unless asked otherwise."""
    return plan_quantity(context, task, (split,), metric or "logprob", baseline or "zero")


def task_portions(quantity: TaskQuantity, size: int, most: int | None = None) -> list[Portion]:
    """The examples of a task in fixed batches of at most `size` examples of similar length, as equal as can be; of the
    first `most` examples."""
    items = quantity.items[:most]
    if not items:
        raise HeadAtlasError(
            f"Task {quantity.task!r} has no example that gates could be fitted to or judged on. Give it more groups."
        )
    order = sorted(range(len(items)), key=lambda i: len(items[i].options[0].tokens))
    chunks = np.array_split(np.array(order), -(-len(order) // size))
    return [portion for chunk in chunks for portion in _portions(quantity.only(chunk.tolist()), sys.maxsize)]


def whole_portions(quantity: TaskQuantity) -> list[Portion]:
    """All examples, in batches that keep the matrix units busy."""
    return _portions(quantity, BATCH_TOKENS)


def _portions(quantity: TaskQuantity, tokens: int) -> list[Portion]:
    batches = make_batches([item.options for item in quantity.items], tokens)
    for batch in batches:
        quantity.note_examples(batch)
    return [Portion(quantity, batch) for batch in batches]
