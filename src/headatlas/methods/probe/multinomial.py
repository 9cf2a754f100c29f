"""Regularised multinomial regression, many at once: of many heads, or of one set of features with many labellings."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

ITERATIONS = 1000


@dataclass(frozen=True)
class Standard:
    """Features centred and scaled by what they were on the examples that were fitted."""

    mean: Tensor
    scale: Tensor

    @classmethod
    def of(cls, features: Tensor) -> Standard:
        """Statistics of features [..., example, dim]; a feature that never varies is left out (scale infinite)."""
        scale = features.std(-2, keepdim=True)
        return cls(features.mean(-2, keepdim=True), torch.where(scale > 1e-6, scale, torch.inf))

    def __call__(self, features: Tensor) -> Tensor:
        return (features - self.mean) / self.scale


@dataclass(frozen=True)
class Rotated:
    """Features centred and in the basis of their own principal directions, where the bound of the Hessian is diagonal.

    `mean` is [problem, 1, dim]; `basis` [problem, dim, rank]; `values` [problem, example, rank]; `power`
    [problem, rank], their mean squares.
    """

    mean: Tensor
    basis: Tensor
    values: Tensor
    power: Tensor

    @classmethod
    def of(cls, features: Tensor) -> Rotated:
        """From features [problem, example, dim]; through whichever of the two Gram matrices is smaller."""
        n, dim = features.shape[-2:]
        mean = features.mean(-2, keepdim=True)
        features = features - mean
        if dim <= n:
            power, basis = torch.linalg.eigh(features.mT @ features / n)
            return cls(mean, basis, features @ basis, power.clamp(min=0))
        power, left = torch.linalg.eigh(features @ features.mT / n)
        real = power > power.amax(-1, keepdim=True) * 1e-7
        size = torch.where(real, (power.clamp(min=0) * n).sqrt(), torch.inf)
        basis = features.mT @ (left / size[:, None])
        return cls(mean, basis, left * torch.where(real, size, 0.0)[:, None], torch.where(real, power, 0.0))


def fit(
    rotated: Rotated, targets: Tensor, penalty: float, weights: Tensor | None = None, tolerance: float = 1e-4
) -> tuple[Tensor, Tensor]:
    """Minimise the mean cross-entropy plus `penalty` / 2 times the squared weights, for every problem and labelling.

    `targets` is one-hot [labelling, example, class]; `weights` [labelling, example], 0 for examples left out. Returns
    weights [problem, labelling, dim, class] on the unrotated features and free intercepts [problem, labelling, class].
    Stops where the largest entry of the gradient has fallen to `tolerance` of what it was at the start.

    The Hessian is at most half the features' second moments (Boehning 1992), which is diagonal here: each step
    minimises that bound, with Nesterov's momentum, restarted where it would climb. Convex: any start leads there.
    """
    problems, n, rank = rotated.values.shape
    labellings, _, classes = targets.shape
    weights = torch.ones(labellings, n) if weights is None else weights
    share = (weights / weights.sum(-1, keepdim=True)).mT  # [example, labelling], sums to 1
    # A labelling on part of the examples sees each of them more heavily.
    bound = 0.5 * rotated.power[:, :, None] * (n * share.amax(0)) + penalty  # [problem, rank, labelling]
    labels = targets.transpose(0, 1)  # [example, labelling, class]
    w = torch.zeros(problems, rank, labellings, classes)
    b = torch.zeros(problems, labellings, classes)
    ahead_w, ahead_b, momentum, first = w, b, 1.0, 0.0
    for _ in range(ITERATIONS):
        logits = (rotated.values @ ahead_w.flatten(2)).view(problems, n, labellings, classes) + ahead_b[:, None]
        residual = (logits.softmax(-1) - labels) * share[..., None]
        gradient = (rotated.values.mT @ residual.flatten(2)).view_as(w) + penalty * ahead_w
        slope = residual.sum(1)
        steepest = max(gradient.abs().max().item(), slope.abs().max().item())
        first = first or steepest
        if steepest <= tolerance * first:
            break
        next_w, next_b = ahead_w - gradient / bound[..., None], ahead_b - 2 * slope
        climbs = ((ahead_w - next_w) * (next_w - w)).sum() + ((ahead_b - next_b) * (next_b - b)).sum() > 0
        following = 1.0 if climbs else (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        push = 0.0 if climbs else (momentum - 1) / following
        ahead_w, ahead_b = next_w + push * (next_w - w), next_b + push * (next_b - b)
        w, b, momentum = next_w, next_b, following
    plain = torch.einsum("pdr,prlc->pldc", rotated.basis, ahead_w)
    return plain, ahead_b - torch.einsum("pd,pldc->plc", rotated.mean[:, 0], plain)
