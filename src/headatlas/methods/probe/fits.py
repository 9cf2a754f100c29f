"""What fitting a probe yields, whatever its architecture; the report reads only this."""

from __future__ import annotations

from dataclasses import dataclass

from headatlas.stats import Array


@dataclass(frozen=True)
class Fit:
    """One probe on the real labels.

    `contributions` [choose example, head]: what each head adds to the logit of the example's task.
    `logits` [evaluate example, task].
    """

    contributions: Array
    logits: Array


@dataclass(frozen=True)
class Fits:
    """All probes of a run.

    `real`: one fit per seed. `null` [shuffle, task, head]: importance under shuffled labels, and `null_accuracy`
    [shuffle] of those probes on `evaluate`. `halves` [draw, half, task, head]: importance when fitted on one half of
    the groups. `alone` [choose example, head]: what a head alone says about the example's task, in nats.
    """

    real: list[Fit]
    null: Array
    null_accuracy: Array
    halves: Array
    alone: Array | None = None
    notes: tuple[tuple[str, float], ...] = ()  # single numbers worth reporting, such as the penalty
