"""The linear probe: standardised features, multinomial regression; all heads together, and each alone."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from torch import Tensor

from headatlas.methods.probe.data import Labelling, ProbeData
from headatlas.methods.probe.fits import Fit, Fits
from headatlas.methods.probe.multinomial import Rotated, Standard, fit
from headatlas.run.cells import Cell, CellKind, Result
from headatlas.run.context import RunContext
from headatlas.suites.suite import SPLITS

LINEAR = CellKind("linear probe")
TITLE = "Linear probe"
PENALTIES = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)  # for each dimension of the features
PENALTIES_ALONE = (1e-3, 1e-2, 1e-1)  # few dimensions, so a weaker one changes nothing but the time


def fit_linear(context: RunContext, data: ProbeData, shuffles: int, seeds: int) -> Fits:
    """Fitted on `fit`; the penalty is the one with the least cross-entropy on `choose`. One cell, a few seconds."""
    (result,) = context.runner.run(TITLE, linear_cells(context, data, shuffles, seeds))
    return Fits(
        real=[Fit(result["contributions"], result["logits"])],
        null=result["null"],
        null_accuracy=result["null_accuracy"],
        halves=result["halves"],
        alone=result["alone"],
        notes=(("penalty", float(result["penalty"][0])), ("penalty alone", float(result["penalty"][1]))),
    )


def linear_cells(context: RunContext, data: ProbeData, shuffles: int, seeds: int) -> list[Cell]:
    """A single cell, which runs no model."""
    rows = sum(len(labels) for labels in data.labels.values())
    compute = partial(_compute, data, shuffles, seeds)
    return [context.cell(LINEAR, compute, rows, forwards=0, data=data.key, shuffles=shuffles, halves=seeds)]


def fit_bytes(context: RunContext, shuffles: int, halves: int) -> int:
    """What `linear_cells` hold besides the features: these standardised, and again with one row per example; those that
    are fitted centred, and their basis; and of every labelling weights, mean features and their product."""
    numbers = 4 * len(context.heads) * context.model.head_dim
    examples = sum(len(context.splits[split].examples) for split in SPLITS)
    labellings = (1 + shuffles + 2 * halves) * len(context.tasks)
    return numbers * (2 * examples + 2 * len(context.splits["fit"].examples) + 3 * labellings)


@torch.inference_mode()
def _compute(data: ProbeData, shuffles: int, seeds: int) -> Result:
    standard = Standard.of(data.features["fit"].transpose(0, 1))
    # [head, example, head_dim] in units of the fitted examples' spread, so that no head counts more for being louder.
    x = {split: standard(features.transpose(0, 1)) for split, features in data.features.items()}
    labellings = [data.real(), *map(data.shuffled, range(shuffles))]
    labellings += [half for seed in range(seeds) for half in data.halves(seed)]
    joint, penalty = _joint(data, x, labellings)
    importance = joint.pop("importance")
    alone, penalty_alone = _alone(data, x)
    return {
        **joint,
        "null": importance[1 : 1 + shuffles],
        "halves": importance[1 + shuffles :].reshape(seeds, 2, *importance.shape[1:]),
        "alone": alone,
        "penalty": np.array([penalty, penalty_alone]),
    }


def _joint(data: ProbeData, x: dict[str, Tensor], labellings: list[Labelling]) -> tuple[dict[str, np.ndarray], float]:
    """One probe on all heads together, for every labelling."""
    heads, _, dim = x["fit"].shape
    flat = {split: values.transpose(0, 1).flatten(1) for split, values in x.items()}
    rotated = Rotated.of(flat["fit"][None])
    classes = len(data.tasks)
    real = _one_hot([labellings[0].fit], classes)
    right = torch.from_numpy(data.labels["choose"])

    def loss(penalty: float) -> float:
        weights, bias = fit(rotated, real, penalty * heads * dim)
        return float(torch.nn.functional.cross_entropy(flat["choose"] @ weights[0, 0] + bias[0, 0], right))

    penalty = min(PENALTIES, key=loss)
    used = torch.from_numpy(np.stack([labelling.used for labelling in labellings])).float()
    weights, bias = fit(
        rotated, _one_hot([labelling.fit for labelling in labellings], classes), penalty * heads * dim, used
    )
    # Mean features of each class under each labelling, times its weights: the mean of the examples' contributions.
    given = _one_hot([labelling.choose for labelling in labellings], classes)
    means = (given.mT @ flat["choose"]) / given.sum(1)[..., None]
    products = (means * weights[0].mT).unflatten(-1, (heads, dim)).sum(-1, dtype=torch.float64)
    right_weights = weights[0, 0].T[right].unflatten(-1, (heads, dim))
    contributions = (flat["choose"].unflatten(-1, (heads, dim)) * right_weights).sum(-1, dtype=torch.float64)
    logits = torch.einsum("nd,ldc->lnc", flat["evaluate"], weights[0]) + bias[0][:, None]
    hits = logits.argmax(-1).numpy() == data.labels["evaluate"]
    shuffles = [i for i, labelling in enumerate(labellings) if i and labelling.used.all()]
    return {
        "contributions": contributions.numpy(),
        "logits": logits[0].double().numpy(),
        "importance": products.numpy(),
        "null_accuracy": hits[shuffles].mean(1),
    }, penalty


def _alone(data: ProbeData, x: dict[str, Tensor]) -> tuple[np.ndarray, float]:
    """One probe on each head. Nats on `choose`: log p(right task | head) - log of the task's share in `fit`."""
    rotated = Rotated.of(x["fit"])
    target = _one_hot([data.labels["fit"]], len(data.tasks))
    right = torch.from_numpy(data.labels["choose"])

    def information(penalty: float) -> Tensor:
        weights, bias = fit(rotated, target, penalty * x["fit"].shape[-1], tolerance=1e-3)
        logits = x["choose"] @ weights[:, 0] + bias
        right_logprob = logits.log_softmax(-1)[:, torch.arange(len(right)), right]
        return (right_logprob - target[0].mean(0).log()[right]).double().T

    # One penalty for all heads, so that they stay comparable.
    tried = {penalty: information(penalty) for penalty in PENALTIES_ALONE}
    best = max(tried, key=lambda penalty: float(tried[penalty].mean()))
    return tried[best].numpy(), best


def _one_hot(labels: list[np.ndarray], classes: int) -> Tensor:
    """[labelling, example, class]."""
    return torch.nn.functional.one_hot(torch.from_numpy(np.stack(labels)), classes).float()
