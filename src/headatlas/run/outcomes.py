"""From scores of options to outcomes of examples: the answer's margin, its log-probability, and whether it wins."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from headatlas.run.nesting import option_texts, without_continuations
from headatlas.stats import Array, bootstrap_mean

if TYPE_CHECKING:
    from headatlas.run.batches import Batch
    from headatlas.run.cells import Result


@dataclass(frozen=True)
class Outcome:
    """What examples score under each intervention, all [intervention, example].

    `margin` is log p(answer) - log p(foil); the foil is the twin's answer, or the distractors together. There is none
    where an example has nothing to compare with. With a `unit` in nats margins are also given as `share` of it.
    """

    logprob: Array
    hit: Array
    margin: Array | None = None
    unit: float | None = None

    def __getitem__(self, which: Any) -> Outcome:
        margin = None if self.margin is None else self.margin[which]
        return replace(self, logprob=self.logprob[which], hit=self.hit[which], margin=margin)

    @property
    def metrics(self) -> dict[str, Array]:
        metrics = {"logprob": self.logprob, "accuracy": self.hit}
        if self.margin is None:
            return metrics
        shares = {} if self.unit is None else {"share": self.margin / self.unit}
        return {"margin": self.margin, **metrics, **shares}

    @property
    def nats(self) -> Array:
        """The margin where there is one, otherwise the log-probability."""
        return self.logprob if self.margin is None else self.margin


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


def outcome_of(scored: Iterable[tuple[Batch, Result]], foiled: Collection[int] = ()) -> Outcome:
    """The outcome of all examples of several batches, in order; scores are [intervention, slot].

    The last option of an example in `foiled` is its foil alone: it takes no part in the forced choice.
    """
    examples = {}
    for batch, scores in scored:
        texts = option_texts(batch)
        for member, options, greedy in by_example(batch, scores):
            offered = slice(-1) if member in foiled else slice(None)
            foil = options[..., -1:] if member in foiled else options[..., 1:]
            offers = without_continuations(options[..., offered], texts[member][offered])
            hit = answer_wins(offers, greedy[..., offered]).astype(float)
            examples[member] = options[..., 0], hit, margin_over(options[..., 0], foil)
    logprobs, hits, margins = zip(*(examples[member] for member in sorted(examples)), strict=True)
    margin = None if any(one is None for one in margins) else np.stack(margins, -1)
    return Outcome(np.stack(logprobs, -1), np.stack(hits, -1), margin)


def margin_over(answer: Array, foil: Array) -> Array | None:
    """log p(answer) - log p(any of the foils), from [...] and [..., foil]; None where there is no foil."""
    if not foil.shape[-1]:
        return None
    margin: Array = answer - np.logaddexp.reduce(foil, axis=-1)
    return margin


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
