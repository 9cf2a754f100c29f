"""What every test is given: the model, held-out examples, the heads a map chose, and a way to remove heads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch

from headatlas.evidence.choice import Heads, Ranking, matched
from headatlas.methods.ablate import FORWARD_TOKENS
from headatlas.model.heads import Baseline, HeadModel
from headatlas.run.baselines import Baselines
from headatlas.run.cells import Cell, Result
from headatlas.run.context import Work
from headatlas.run.scoring import Batch, Encoder, make_batches
from headatlas.stats import Array, bootstrap_mean
from headatlas.suites.example import Example

SPLIT = "evaluate"
PATIENCE = 20  # tries for every random set that is wanted, where some come out the same


@dataclass(frozen=True)
class Settings:
    """How much is tested. `ks` are numbers of heads; `k` the one where a single number is needed."""

    ks: tuple[int, ...]
    k: int
    draws: int  # random sets of heads, matched by layer
    few_draws: int  # the same, in tests that cost more
    sizes: tuple[int, ...]  # circuits that are kept
    examples: int | None  # of each task; all of the split when None
    chains: int | None
    strengths: tuple[float, ...] = (1.0, 2.0, 5.0, 10.0)  # of steering
    scales: tuple[float, ...] = (0.5, 1.5, 2.0)  # of heads
    baseline: str = "mean"
    answers_only: bool = False
    seed: int = 0


@dataclass(frozen=True)
class Evidence:
    """One row of `evidence.parquet`; see `atlas.EVIDENCE`."""

    test: str
    task: str
    eval_task: str | None
    control: str
    metric: str
    value: float
    baseline: float | None = None
    low: float | None = None
    high: float | None = None
    k: int | None = None
    draw: int | None = None


@dataclass(frozen=True)
class Outcome:
    """What examples score under each intervention: `logprob` and `hit`, both [intervention, example]."""

    logprob: Array
    hit: Array

    def __getitem__(self, which: Any) -> Outcome:
        return Outcome(self.logprob[which], self.hit[which])

    @property
    def metrics(self) -> dict[str, Array]:
        return {"logprob": self.logprob, "accuracy": self.hit}


class Trial:
    """A map on trial. `work` holds the mapped tasks and the neutral one, `chains` the steps of held-out chains, `roles`
    the maps [layer, head] of the roles of every task, where gates were fitted."""

    def __init__(
        self,
        work: Work,
        tasks: Sequence[str],
        rankings: Mapping[str, Ranking],
        settings: Settings,
        chains: Sequence[Example] = (),
        roles: Mapping[str, Mapping[str, Array]] | None = None,
    ):
        self.work, self.tasks, self.rankings, self.settings = work, tuple(tasks), rankings, settings
        self.chains, self.roles = chains, roles or {}
        self._batches: dict[str, list[Batch]] = {}

    @cached_property
    def baselines(self) -> Baselines:
        return Baselines(self.settings.baseline, self.work, self.settings.seed)

    @cached_property
    def means(self) -> Baselines:
        """The mean of every head, for tests in which the model writes: other examples have nothing to lend there."""
        return self.baselines if self.settings.baseline == "mean" else Baselines("mean", self.work)

    def batches(self, task: str, split: str = SPLIT) -> list[Batch]:
        """Examples with all their options, or with answers alone where that was asked for."""
        if self.settings.answers_only:
            return self.work.batches(task, split)
        if f"{task}/{split}" not in self._batches:
            encoded = [self.work.encoder.encode(example) for example in self.work.examples(task, split)]
            self._batches[f"{task}/{split}"] = make_batches(encoded)
        return self._batches[f"{task}/{split}"]

    def ks(self, task: str) -> list[int]:
        """The numbers of heads to test for a task: those set, and the elbow of its map."""
        most = len(self.rankings[task].strongest)
        return sorted({k for k in (*self.settings.ks, self.rankings[task].elbow) if k <= most})

    def draws(self, task: str, k: int, count: int) -> list[Heads]:
        """Up to `count` different random sets for the top k of a task. Of a few heads there are only so many; of more
        than half of all there are none, because too few others are left."""
        chosen = self.rankings[task].top(k)
        rng = np.random.default_rng([self.settings.seed, self.tasks.index(task), k])
        drawn: dict[Heads, None] = {}
        for _ in range(PATIENCE * count):
            if len(drawn) == count:
                break
            heads = matched(chosen, self.work.model.shape, rng)
            if len(heads) == len(chosen):
                drawn[heads] = None
        return list(drawn)

    def remove(self, title: str, wanted: Mapping[str, Sequence[Heads]]) -> dict[str, Outcome]:
        """Per measured task: the outcome without each set of heads; the empty set is the intact model."""
        distinct = {task: list(dict.fromkeys(sets)) for task, sets in wanted.items()}
        made = {task: partial(self._cell, task, sets) for task, sets in distinct.items()}
        outcomes = self.run(title, SPLIT, made)
        return {task: outcomes[task][[distinct[task].index(own) for own in sets]] for task, sets in wanted.items()}

    def run(self, title: str, split: str, make: Mapping[str, Callable[[Batch], Cell]]) -> dict[str, Outcome]:
        """Per measured task, the outcome of cells made of its batches: `logprobs`, `greedy` [intervention, slot]."""
        pairs = [(task, batch) for task in make for batch in self.batches(task, split)]
        results = self.work.runner.run(title, [make[task](batch) for task, batch in pairs])
        scores: dict[str, list[tuple[int, Array, Array]]] = {task: [] for task in make}
        for (task, batch), result in zip(pairs, results, strict=True):
            scores[task] += per_example(batch, result["logprobs"], result["greedy"])
        return {task: in_order(own) for task, own in scores.items()}

    def _cell(self, task: str, sets: Sequence[Heads], batch: Batch) -> Cell:
        inputs = self.work.inputs(
            "remove", batch=batch.key, baseline=self.baselines.inputs(task), heads=[sorted(own) for own in sets]
        )

        def compute() -> Result:
            gates = gates_without(self.work.model.shape, sets)
            return gate_batch(self.work.model, batch, gates, self.baselines.of(task, batch))

        return Cell(inputs, compute, batch.ids.numel() * len(sets))

    def groups(self, task: str) -> list[str]:
        return self.work.groups(task, SPLIT)


def gates_without(shape: tuple[int, int], sets: Sequence[Heads]) -> torch.Tensor:
    """Gates [set, layer, head]: 0 for the heads of each set, 1 for all others."""
    gates = torch.ones(len(sets), *shape)
    for row, own in enumerate(sets):
        for layer, head in own:
            gates[row, layer, head] = 0
    return gates


@torch.inference_mode()
def gate_batch(model: HeadModel, batch: Batch, gates: torch.Tensor, baseline: Baseline | None) -> Result:
    """Scores [mask, slot] of a batch under each of the gates [mask, layer, head]; masks ride in the batch's rows."""
    room = max(1, FORWARD_TOKENS // batch.ids.numel())
    logprobs, greedy = [], []
    for some in gates.split(room):
        copies = len(some)
        with model.gate(some.repeat_interleave(batch.size, 0), repeated(baseline, copies)):
            scores, exact = batch.repeat(copies).score(model)
        logprobs.append(scores.view(copies, -1))
        greedy.append(exact.view(copies, -1))
    return {"logprobs": torch.cat(logprobs).numpy(), "greedy": torch.cat(greedy).numpy().astype(np.uint8)}


@torch.inference_mode()
def score_each(
    model: HeadModel, encoder: Encoder, examples: Sequence[Example], gates: torch.Tensor, baseline: Baseline | None
) -> Outcome:
    """One intervention for each example: gates [example, layer, head]. An outcome of one row, [1, example]."""
    scores: list[tuple[int, Array, Array]] = []
    for batch in make_batches([encoder.encode(example) for example in examples], FORWARD_TOKENS):
        member = torch.empty(batch.size, dtype=torch.long)  # whose row it is
        member[batch.rows] = torch.tensor(batch.members)[batch.owners[batch.slots]]
        with model.gate(gates[member], baseline):
            logprobs, greedy = batch.score(model)
        scores += per_example(batch, logprobs.numpy()[None], greedy.numpy()[None])
    return in_order(scores)


def repeated(baseline: Baseline | None, copies: int) -> Baseline | None:
    """A baseline for several copies of a batch; only one that differs by row has to be repeated."""
    if isinstance(baseline, Mapping):
        return {layer: values.repeat(copies, 1, 1, 1) for layer, values in baseline.items()}
    return baseline


def per_example(batch: Batch, logprobs: Array, greedy: Array) -> Iterable[tuple[int, Array, Array]]:
    """(example, log-probability of its answer, whether the answer wins) from scores [intervention, slot]."""
    owners = batch.owners.numpy()
    for place, member in enumerate(batch.members):
        own = np.flatnonzero(owners == place)
        answer = logprobs[:, own[0]]
        others = logprobs[:, own[1:]]
        hit = answer > others.max(1) if others.size else greedy[:, own[0]].astype(bool)
        yield member, answer, hit.astype(float)


def in_order(scores: Iterable[tuple[int, Array, Array]]) -> Outcome:
    ordered = sorted(scores, key=lambda entry: entry[0])
    return Outcome(np.stack([own for _, own, _ in ordered], 1), np.stack([own for _, _, own in ordered], 1))


def changes(outcome: Outcome, intact: Outcome, groups: Sequence[str]) -> dict[str, tuple[Array, float, Array, Array]]:
    """Per metric: the means under each intervention, the intact mean, and the 95 % interval of each mean.

    The interval is that of the paired change from the intact model, so `high` below the baseline means damage.
    """
    found = {}
    for metric, values in outcome.metrics.items():
        base = intact.metrics[metric][0]
        low, high = bootstrap_mean((values - base).T, groups)
        level = float(base.mean())
        bounds = (0.0, 1.0) if metric == "accuracy" else (-np.inf, np.inf)
        found[metric] = (values.mean(1), level, np.clip(level + low, *bounds), np.clip(level + high, *bounds))
    return found
