"""Fitting gates by gradient descent: several fits at once, each with its own rate, patience and end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from headatlas.errors import HeadAtlasError
from headatlas.methods.gate.relaxations import Relaxation, choose_relaxation
from headatlas.methods.gate.roles import OPEN
from headatlas.methods.gate.settings import FitSettings
from headatlas.progress import say_share
from headatlas.run.cells import Result

NOISE_SEED = 90_210
# Takes a number of examples; gives the gates of a step [fit, example or 1, layer, head].
Draw = Callable[[int], Tensor]


class Objective(Protocol):
    """What is minimised besides the penalty, for several fits at once."""

    def train(self, draw: Draw, step: int) -> tuple[Tensor, Tensor]:
        """The value [fit] on the batch of a step under drawn gates, and its gradient [fit, layer, head], summed over
        examples; both float64."""
        ...

    def held(self, gates: Tensor) -> Tensor:
        """The value [fit] on the examples that decide when to stop, under gates [fit, layer, head]; float64."""
        ...


@dataclass
class Fit:
    """One fit and its course. `current` are the logits [layer, head] on their way, `logits` those of the best look at
    held-out examples."""

    name: str
    seed: int
    penalty: float
    relaxation: Relaxation
    current: torch.nn.Parameter
    optimiser: torch.optim.Adam
    logits: Tensor
    best: float = math.inf
    best_step: int = 0
    misses: int = 0
    cooling_since: int | None = None
    ended: bool = False
    steps: list[tuple[float, float, int]] = field(default_factory=list)  # data part, penalty, open gates
    looks: list[tuple[int, float, float]] = field(default_factory=list)  # steps made, data part, objective

    @classmethod
    def begin(cls, name: str, seed: int, penalty: float, start: Tensor, settings: FitSettings) -> Fit:
        current = torch.nn.Parameter(start.double().clone())
        adam = torch.optim.Adam([current], lr=settings.learning_rate)
        relaxation = choose_relaxation(settings.gates, settings.noise)
        return cls(name, seed, penalty, relaxation, current, adam, start.double().clone())

    def drawing(self, step: int, settings: FitSettings) -> Draw:
        """The gates of a step [example or 1, layer, head]; a function of the seed, whatever else is fitted."""
        rng = np.random.default_rng([self.seed, step, NOISE_SEED])
        heat = self.rate(step, settings) / settings.learning_rate
        return lambda examples: self.relaxation.draw(self.current.detach(), examples, heat, rng)

    @property
    def gates(self) -> Tensor:
        """What the logits mean now [layer, head]."""
        return self.relaxation.finished(self.current.detach())

    def penalty_value(self, clamp: float) -> float:
        """-lambda * mean(clamp(logit))."""
        return float(-self.penalty * self.current.detach().clamp(-clamp, clamp).mean())

    def step(self, gradient: Tensor, rate: float, settings: FitSettings) -> None:
        """One step of Adam along the gradient of the data part with respect to the gates."""
        with torch.no_grad():
            gates = torch.sigmoid(self.current)
            within = self.current.abs() <= settings.clamp  # beyond the clamp the penalty is flat
            slope = gradient * gates * (1 - gates) - self.penalty * within / self.current.numel()
        self.current.grad = slope
        torch.nn.utils.clip_grad_norm_([self.current], settings.max_norm)
        self.optimiser.param_groups[0]["lr"] = rate
        self.optimiser.step()
        if settings.project:
            with torch.no_grad():
                self.current.clamp_(-settings.clamp, settings.clamp)

    def look(self, made: int, value: float, settings: FitSettings) -> None:
        """Note the held-out value after `made` steps, and remember the logits if they are the best so far."""
        reached = value + self.penalty_value(settings.clamp)
        self.looks.append((made, value, reached))
        self.misses = 0 if reached < self.best - settings.tolerance else self.misses + 1
        if reached < self.best:
            self.best, self.best_step, self.logits = reached, made, self.current.detach().clone()

    def rate(self, step: int, settings: FitSettings) -> float:
        if settings.schedule == "cosine":
            return settings.learning_rate * (1 + math.cos(math.pi * step / settings.steps)) / 2
        if settings.schedule == "cooldown" and self.cooling_since is not None:
            return settings.learning_rate * (1 - (step - self.cooling_since) / settings.cooldown)
        return settings.learning_rate

    def last_step(self, settings: FitSettings) -> int:
        if self.cooling_since is not None:
            return min(settings.steps, self.cooling_since + settings.cooldown)
        return settings.steps

    def decide(self, made: int, settings: FitSettings) -> None:
        """After `made` steps: go on, begin to cool down, or end."""
        settled = self.misses >= settings.patience
        if settings.schedule == "cooldown":
            if self.cooling_since is None and (settled or made >= settings.steps - settings.cooldown):
                self.cooling_since = made
            settled = False
        self.ended = settled or made >= self.last_step(settings)

    def result(self) -> Result:
        """As arrays: the course has one row per step (before its update), the looks one row each."""
        data, penalty, opened = np.array(self.steps, dtype=np.float64).T
        made, held, objective = np.array(self.looks, dtype=np.float64).T
        return {
            "logits": self.logits.numpy(),
            "gates": self.relaxation.finished(self.logits).numpy(),
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
    objective: Objective,
    starts: Tensor,
    penalties: Sequence[float],
    settings: FitSettings,
    names: Sequence[str],
    seeds: Sequence[int],
) -> list[Fit]:
    """Minimise `objective - penalty * mean(clamp(logit))` from each of `starts` [fit, layer, head] with its penalty and
    the seed of its noise.

    Adam with the gradient of each fit clipped to `max_norm`. A fit that has ended leaves the batch. Fits do not
    influence each other: alone or together they give the same numbers but for rounding.
    """
    fits = [
        Fit.begin(name, seed, penalty, start, settings)
        for name, seed, penalty, start in zip(names, seeds, penalties, starts, strict=True)
    ]
    for step in range(settings.steps):
        alive = [fit for fit in fits if not fit.ended]
        if not alive:
            break
        values, gradients = objective.train(_drawing(alive, step, settings), step)
        for fit, value, gradient in zip(alive, values.tolist(), gradients, strict=True):
            _refuse_divergence(fit, value, gradient, step, settings)
            fit.steps.append((value, fit.penalty_value(settings.clamp), int((fit.gates > OPEN).sum())))
            fit.step(gradient, fit.rate(step, settings), settings)
        made = step + 1
        due = [fit for fit in alive if made % settings.check == 0 or made == fit.last_step(settings)]
        if due:
            for fit, value in zip(due, objective.held(torch.stack([fit.gates for fit in due])).tolist(), strict=True):
                _refuse_divergence(fit, value, fit.current, made, settings)
                fit.look(made, value, settings)
        for fit in alive:
            fit.decide(made, settings)
        say_share(made / settings.steps)
    return fits


def _drawing(fits: Sequence[Fit], step: int, settings: FitSettings) -> Draw:
    draws = [fit.drawing(step, settings) for fit in fits]
    return lambda examples: torch.stack([draw(examples) for draw in draws])


def _refuse_divergence(fit: Fit, value: float, tensor: Tensor, step: int, settings: FitSettings) -> None:
    if math.isfinite(value) and bool(torch.isfinite(tensor).all()):
        return
    reason = "its gradient was not finite" if math.isfinite(value) else f"its objective was {value}"
    raise HeadAtlasError(
        f"The gate fit of {fit.name} diverged: {reason} at step {step}. Nothing of it was saved. Lower the learning "
        f'rate (now {settings.learning_rate:g}), or load the model with `dtype` "float32".'
    )
