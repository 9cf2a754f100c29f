"""What a logit stands for: a gate that is open or closed (binary), or one that scales a head (the published form).

A fit descends on logits. A relaxation says which gates the model runs with while it is fitted, and which gates a logit
means when the fit has ended. Both have the slope of the sigmoid: that of a soft gate, and of the chance that a binary
gate is open.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from torch import Tensor

STRETCH = 0.1  # how far beyond 0 and 1 a finished gate is stretched before it is clipped
COLD = 0.2  # share of the noise that is left when the learning rate has fallen to zero


class Relaxation(Protocol):
    """From logits [layer, head] to gates."""

    def draw(self, logits: Tensor, examples: int, heat: float, rng: np.random.Generator) -> Tensor:
        """The gates of one step [example, layer, head], or [1, layer, head] where all examples have the same; `heat`
        is the share of the learning rate that is left."""
        ...

    def finished(self, logits: Tensor) -> Tensor:
        """The gates that the logits mean, without chance; any shape."""
        ...


class Soft:
    """G = sigmoid(logit), as published. A head that is scaled is neither there nor gone."""

    def draw(self, logits: Tensor, examples: int, heat: float, rng: np.random.Generator) -> Tensor:
        return torch.sigmoid(logits)[None]

    def finished(self, logits: Tensor) -> Tensor:
        return torch.sigmoid(logits)


class Binary:
    """Every example of a step runs with heads that are there or gone: gate = 1 where logit + noise > 0.

    The noise is logistic, so sigmoid(logit) is the chance of an open gate at full noise; it falls with the learning
    rate. For every head the examples of a step share the noise out evenly, each has its own n-th of the distribution
    (Latin hypercube sampling): what masks do to a gradient varies less from step to step.

    The gradient passes straight through the threshold (Bengio et al. 2013). Samples between 0 and 1, as hard concrete
    gates (Louizos et al. 2018) have them, do not see a head of which any trace is enough: its loss is a cliff at 0, and
    its slope elsewhere points the wrong way. A closed gate stands on the edge and sees the cliff.

    A finished gate is that of a hard concrete one: the chance to be open at the noise with which a fit ends, stretched
    and clipped. With `noise` 1 it is exactly 0 or 1 beyond logits of +-0.5.
    """

    def __init__(self, noise: float) -> None:
        self.noise = noise

    def draw(self, logits: Tensor, examples: int, heat: float, rng: np.random.Generator) -> Tensor:
        spread = self.noise * (COLD + (1 - COLD) * heat)
        size = (examples, *logits.shape)
        level = torch.from_numpy((rng.random(size).argsort(0) + rng.random(size)) / examples)
        return (level < torch.sigmoid(logits / spread)).double()

    def finished(self, logits: Tensor) -> Tensor:
        chance = torch.sigmoid(logits / (self.noise * COLD))
        return (chance * (1 + 2 * STRETCH) - STRETCH).clamp(0, 1)


def choose_relaxation(kind: str, noise: float) -> Relaxation:
    return Binary(noise) if kind == "binary" else Soft()
