"""From scores of options to outcomes of examples: the log-probability of the answer, and whether it wins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from headatlas.run.nesting import option_texts, without_continuations
from headatlas.stats import Array, bootstrap_mean

if TYPE_CHECKING:
    from headatlas.run.batches import Batch
    from headatlas.run.cells import Result


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


def answer_wins(options: Array, greedy: Array) -> Array:
    """Whether the answer beats all distractors; without distractors, whether greedy decoding gives it.

    Log-probabilities and greedy hits are [..., option], the answer first. Give an option that begins another
    `without_continuations`, or it always wins.
    """
    if options.shape[-1] > 1:
        wins: Array = options[..., 0] > options[..., 1:].max(-1)
    else:
        wins = greedy[..., 0].astype(bool)
    return wins


def by_example(batch: Batch, scores: Result) -> Iterator[tuple[int, Array, Array]]:
    """(example, log-probabilities, greedy hits [..., option]) from `logprobs` and `greedy` [..., slot]."""
    owners = batch.owners.numpy()
    for number, member in enumerate(batch.members):
        slots = np.flatnonzero(owners == number)
        yield member, scores["logprobs"][..., slots], scores["greedy"][..., slots]


def outcome_of(scored: Iterable[tuple[Batch, Result]]) -> Outcome:
    """The outcome of all examples of several batches, in order; scores are [intervention, slot]."""
    examples = {}
    for batch, scores in scored:
        texts = option_texts(batch)
        for member, options, greedy in by_example(batch, scores):
            hit = answer_wins(without_continuations(options, texts[member]), greedy)
            examples[member] = options[..., 0], hit.astype(float)
    ordered = [examples[member] for member in sorted(examples)]
    return Outcome(np.stack([logprob for logprob, _ in ordered], -1), np.stack([hit for _, hit in ordered], -1))


@dataclass(frozen=True)
class Level:
    """A metric under each intervention: its means, the intact mean, and the 95 % interval of each mean."""

    means: Array
    intact: float
    low: Array
    high: Array


def levels(outcome: Outcome, intact: Outcome, groups: Sequence[str]) -> dict[str, Level]:
    """The level of every metric. The interval is that of the paired change from the intact model, so a `high` below
    the intact mean means damage."""
    result = {}
    for metric, values in outcome.metrics.items():
        base = intact.metrics[metric][0]
        low, high = bootstrap_mean((values - base).T, groups)
        level = float(base.mean())
        bounds = (0.0, 1.0) if metric == "accuracy" else (-np.inf, np.inf)
        result[metric] = Level(values.mean(1), level, np.clip(level + low, *bounds), np.clip(level + high, *bounds))
    return result
