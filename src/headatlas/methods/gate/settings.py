"""How gates are fitted: the settings that all fits have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headatlas.errors import UsageError, unknown
from headatlas.methods.base import Method
from headatlas.stats import Array

SCHEDULES = ("cosine", "constant", "cooldown")
KINDS = ("binary", "paper")  # of gates: open or closed, or scaling as published


@dataclass(frozen=True, kw_only=True)
class FitSettings(Method):
    """Settings of a fit. Plain descent as in the paper is gates "paper", schedule "constant", no projection, 500 steps,
    batches of 32.

    `gates` are "binary", open or closed for every example of a step, or "paper", factors between 0 and 1. `noise` is
    how far chance moves the logits of binary gates at the full learning rate; it falls with the rate.

    `schedule` says what the learning rate does: `cosine` lowers it to zero over all `steps`; `constant` leaves it;
    `cooldown` holds it until the held-out objective no longer improves (or `cooldown` steps are left), then lowers it
    to zero over `cooldown` steps and ends. The first two end early when the held-out objective no longer improves. It
    is measured every `check` steps, on `held` examples of `choose` (all when None); "no longer" means `patience` times
    in a row without gaining `tolerance` nats. The gates that did best there are the result.

    `project` keeps logits within the clamp of the penalty. Beyond it they gain nothing, but a gate that has overshot to
    a logit of 8 has hardly any gradient left and does not come back. `batch` is the number of examples in a step.
    Starts are drawn from a normal distribution of logits; a mean above 0 sets out from a model that still works.
    `checkpoint` holds less in memory for the backward and computes layers again in it, always and not only where
    memory is short; it changes no number.
    """

    gates: str = "binary"
    noise: float = 1.0
    seeds: int = 1
    steps: int = 24
    batch: int = 16
    learning_rate: float = 1.0
    schedule: str = "cosine"
    cooldown: int = 8
    check: int = 6
    held: int | None = None
    patience: int = 2
    tolerance: float = 0.002
    max_norm: float = 1.0
    clamp: float = 4.0
    project: bool = True
    init_mean: float = 2.0
    init_scale: float = 1.0
    checkpoint: bool = False

    def __post_init__(self) -> None:
        if self.gates not in KINDS:
            raise unknown("kind of gates", self.gates, KINDS)
        if self.schedule not in SCHEDULES:
            raise unknown("schedule", self.schedule, SCHEDULES)
        for name in ("seeds", "steps", "batch", "cooldown", "check", "patience"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} = {getattr(self, name)} was asked for; gates need at least 1.")
        if self.held is not None and self.held < 1:
            raise UsageError(f"held = {self.held} was asked for; gates need at least 1 example to stop by.")
        for name in ("noise", "learning_rate", "max_norm", "clamp"):
            if not getattr(self, name) > 0:
                raise UsageError(f"{name} = {getattr(self, name)} was asked for; it must be above 0.")
        for name in ("tolerance", "init_scale"):
            if not getattr(self, name) >= 0:
                raise UsageError(f"{name} = {getattr(self, name)} was asked for; it must not be below 0.")

    def start(self, shape: tuple[int, int], seed: int) -> Array:
        """The random logits [layer, head] from which a seed sets out."""
        return np.random.default_rng([seed, 20_505]).normal(self.init_mean, self.init_scale, shape)


# The settings that the numbers of a fit depend on; how many seeds there are and what is held in memory are not.
NUMERIC = tuple(name for name in FitSettings.__dataclass_fields__ if name not in ("seeds", "checkpoint"))
