"""Fitting gates by gradient descent: several fits at once, each with its own rate, patience and end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from headatlas.errors import HeadAtlasError, UsageError, unknown
from headatlas.methods.gate.roles import OPEN
from headatlas.run.cells import Result

SCHEDULES = ("cosine", "constant", "cooldown")
BETAS, EPSILON = (0.9, 0.999), 1e-8  # of Adam


class Objective(Protocol):
    """What is minimised besides the penalty, for gates [fit, layer, head] of several fits at once."""

    def train(self, gates: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """The value [fit] on the batch of a step, and its gradient [fit, layer, head], both float64."""
        ...

    def held(self, gates: Tensor) -> Tensor:
        """The value [fit] on the examples that decide when to stop, float64."""
        ...


@dataclass(frozen=True, kw_only=True)
class Descent:
    """Settings of a fit. Plain descent as in the paper is schedule "constant", no projection, 500 steps, batches of 32.

    `schedule` says what the learning rate does: `cosine` lowers it to zero over all `steps`; `constant` leaves it;
    `cooldown` holds it until the held-out objective no longer improves (or `cooldown` steps are left), then lowers it
    to zero over `cooldown` steps and ends. The first two end early when the held-out objective no longer improves. It
    is looked at every `check` steps; "no longer" means `patience` looks in a row without gaining `tolerance` nats.
    The gates that did best at such a look are kept.

    `project` keeps logits within the clamp of the penalty. Beyond it they gain nothing, but a gate that has overshot to
    a logit of 8 has hardly any gradient left and does not come back. `batch` is the number of examples in a step.
    Starts are drawn from a normal distribution of logits; a mean above 0 sets out from a model that still works.
    `checkpoint` keeps less for the backward, for large models; it changes no number.
    """

    seeds: int = 1
    steps: int = 24
    batch: int = 16
    learning_rate: float = 1.0
    schedule: str = "cosine"
    cooldown: int = 8
    check: int = 6
    patience: int = 2
    tolerance: float = 0.002
    max_norm: float = 1.0
    clamp: float = 4.0
    project: bool = True
    init_mean: float = 2.0
    init_scale: float = 1.0
    checkpoint: bool = False

    def __post_init__(self) -> None:
        if self.schedule not in SCHEDULES:
            raise unknown("schedule", self.schedule, SCHEDULES)
        for name in ("seeds", "steps", "batch", "cooldown", "check", "patience"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} = {getattr(self, name)} was asked for; gates need at least 1.")
        for name in ("learning_rate", "max_norm", "clamp"):
            if not getattr(self, name) > 0:
                raise UsageError(f"{name} = {getattr(self, name)} was asked for; it must be above 0.")
        for name in ("tolerance", "init_scale"):
            if not getattr(self, name) >= 0:
                raise UsageError(f"{name} = {getattr(self, name)} was asked for; it must not be below 0.")

    def start(self, shape: tuple[int, int], seed: int) -> Tensor:
        """The random logits [layer, head] from which a seed sets out."""
        drawn = np.random.default_rng([seed, 20_505]).normal(self.init_mean, self.init_scale, shape)
        return torch.from_numpy(drawn)


@dataclass
class Fit:
    """One fit and its course. `logits` [layer, head] are those of the best look at held-out examples."""

    logits: Tensor
    best: float = math.inf
    best_step: int = 0
    misses: int = 0
    cooling_since: int | None = None
    ended: bool = False
    steps: list[tuple[float, float, int]] = field(default_factory=list)  # data part, penalty, open gates
    looks: list[tuple[int, float, float]] = field(default_factory=list)  # steps made, data part, objective

    def result(self) -> Result:
        """As arrays: the course has one row a step (before its update), the looks one row each."""
        data, penalty, opened = np.array(self.steps, dtype=np.float64).T
        made, held, objective = np.array(self.looks, dtype=np.float64).T
        return {
            "logits": self.logits.numpy(),
            "nll": data,
            "penalty": penalty,
            "objective": data + penalty,
            "open": opened.astype(np.int64),
            "look_steps": made.astype(np.int64),
            "look_nll": held,
            "look_objective": objective,
            "best_step": np.array([self.best_step]),
        }


def descend(
    objective: Objective, starts: Tensor, strengths: Sequence[float], settings: Descent, names: Sequence[str]
) -> list[Fit]:
    """Minimise `objective - strength * mean(clamp(logit))` from each of `starts` [fit, layer, head] with its strength.

    Adam with the gradient of each fit clipped to `max_norm`. A fit that has ended leaves the batch. Fits do not
    influence each other: alone or together they give the same numbers but for rounding.
    """
    logits = starts.double().clone()
    first, second = torch.zeros_like(logits), torch.zeros_like(logits)
    pull = torch.tensor(strengths, dtype=torch.float64)
    fits = [Fit(start.clone()) for start in logits]
    for step in range(settings.steps):
        alive = [i for i, fit in enumerate(fits) if not fit.ended]
        if not alive:
            break
        x = logits[alive]
        gates = torch.sigmoid(x)
        value, gradient = objective.train(gates, step)
        gradient = gradient * gates * (1 - gates) - _penalty_gradient(x, pull[alive], settings.clamp)
        penalty = _penalty(x, pull[alive], settings.clamp)
        for place, i in enumerate(alive):
            _refuse_divergence(float(value[place]), gradient[place], names[i], step, settings)
            fits[i].steps.append((float(value[place]), float(penalty[place]), int((gates[place] > OPEN).sum())))
        norms = gradient.flatten(1).norm(dim=1)[:, None, None]
        gradient = gradient * (settings.max_norm / (norms + 1e-6)).clamp(max=1)
        first[alive] = BETAS[0] * first[alive] + (1 - BETAS[0]) * gradient
        second[alive] = BETAS[1] * second[alive] + (1 - BETAS[1]) * gradient.square()
        mean = first[alive] / (1 - BETAS[0] ** (step + 1))
        spread = (second[alive] / (1 - BETAS[1] ** (step + 1))).sqrt()
        rates = torch.tensor([_rate(settings, fits[i], step) for i in alive], dtype=torch.float64)[:, None, None]
        moved = x - rates * mean / (spread + EPSILON)
        logits[alive] = moved.clamp(-settings.clamp, settings.clamp) if settings.project else moved
        _look(objective, logits, pull, fits, alive, step + 1, settings, names)
    return fits


def _penalty(logits: Tensor, pull: Tensor, clamp: float) -> Tensor:
    return -pull * logits.clamp(-clamp, clamp).mean((1, 2))


def _penalty_gradient(logits: Tensor, pull: Tensor, clamp: float) -> Tensor:
    """What the penalty takes off the gradient: a constant inside the clamp, nothing beyond it."""
    return pull[:, None, None] * (logits.abs() <= clamp) / logits[0].numel()


def _rate(settings: Descent, fit: Fit, step: int) -> float:
    if settings.schedule == "cosine":
        return settings.learning_rate * (1 + math.cos(math.pi * step / settings.steps)) / 2
    if settings.schedule == "cooldown" and fit.cooling_since is not None:
        return settings.learning_rate * (1 - (step - fit.cooling_since) / settings.cooldown)
    return settings.learning_rate


def _look(
    objective: Objective, logits: Tensor, pull: Tensor, fits: Sequence[Fit], alive: Sequence[int], made: int,
    settings: Descent, names: Sequence[str],
) -> None:  # fmt: skip
    """After `made` steps: score the fits that are due on held-out examples, keep the best gates, and decide."""
    due = [i for i in alive if made % settings.check == 0 or made == _last_step(settings, fits[i])]
    if due:
        values = objective.held(torch.sigmoid(logits[due]))
        penalties = _penalty(logits[due], pull[due], settings.clamp)
        for i, value, penalty in zip(due, values.tolist(), penalties.tolist(), strict=True):
            _refuse_divergence(value, logits[i], names[i], made, settings)
            fit, reached = fits[i], value + penalty
            fit.looks.append((made, value, reached))
            fit.misses = 0 if reached < fit.best - settings.tolerance else fit.misses + 1
            if reached < fit.best:
                fit.best, fit.best_step, fit.logits = reached, made, logits[i].clone()
    for i in alive:
        fit = fits[i]
        settled = fit.misses >= settings.patience
        if settings.schedule == "cooldown":
            if fit.cooling_since is None and (settled or made >= settings.steps - settings.cooldown):
                fit.cooling_since = made
            settled = False
        fit.ended = settled or made >= _last_step(settings, fit)


def _last_step(settings: Descent, fit: Fit) -> int:
    if fit.cooling_since is not None:
        return min(settings.steps, fit.cooling_since + settings.cooldown)
    return settings.steps


def _refuse_divergence(value: float, tensor: Tensor, name: str, step: int, settings: Descent) -> None:
    if math.isfinite(value) and bool(torch.isfinite(tensor).all()):
        return
    found = "its gradient was not finite" if math.isfinite(value) else f"its objective was {value}"
    raise HeadAtlasError(
        f"The gate fit of {name} diverged: {found} at step {step}. Nothing of it was kept. Lower the learning rate "
        f"(now {settings.learning_rate:g}), or use --dtype float32."
    )
