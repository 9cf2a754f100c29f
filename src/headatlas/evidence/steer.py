"""Push the chosen heads towards what they do on items the model gets right: does it get more of them right?

theta = mean(z | right) - mean(z | wrong), per task and head, where the answer is predicted, on `fit` only.
While an answer is predicted, z becomes z + alpha * sigma * theta / |theta|, sigma the spread of z along theta. The
strength alpha is the one that does best on `choose`; the gain is measured on `evaluate`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor

from headatlas.evidence.trial import (
    FORWARD_TOKENS,
    SPLIT,
    Evidence,
    Outcome,
    Trial,
    changes,
    gate_batch,
    in_order,
    per_example,
)
from headatlas.methods.probe.features import Reading, collect
from headatlas.model.heads import HeadModel
from headatlas.run.cells import Cell, Result
from headatlas.run.competence import score_cell
from headatlas.run.scoring import Batch
from headatlas.stats import Array
from headatlas.suites.neutral.generate import TASK as NEUTRAL

Plan = Mapping[str, Sequence[Tensor]]  # task: its interventions

FEWEST = 5  # items of each kind, right and wrong, that a direction needs


def steer(trial: Trial) -> list[Evidence]:
    """Gain from steering the top heads of each task, its cost on neutral text, and plain scaling of the same heads.

    An answer that is predicted token by token is what greedy decoding writes, so nothing has to be generated: the
    push stands at every position from which a token of an answer is predicted.
    """
    pushes = _pushes(trial)
    strengths = _strengths(trial, pushes)
    sizes = {task: len(trial.rankings[task].top(trial.settings.k)) for task in trial.tasks}
    found = [Evidence("steer", task, task, "steer", "alpha", alpha, k=sizes[task]) for task, alpha in strengths.items()]
    steered = {task: [strengths[task] * push] for task, push in pushes.items()}
    found += _rows(trial, ["steer"], _by_eval_task(trial, steered), "Steering", _push_cell)
    scaled = {task: _scaled(trial, task) for task in trial.tasks}
    scales = [f"scale {scale:g}" for scale in trial.settings.scales]
    return found + _rows(trial, scales, _by_eval_task(trial, scaled), "Scaling", _scale_cell)


def _by_eval_task(trial: Trial, own: Plan) -> dict[str, Plan]:
    """What is measured on what: the interventions of a task on itself, and those of all tasks on neutral text."""
    plan: dict[str, Plan] = {task: {task: interventions} for task, interventions in own.items()}
    if own and NEUTRAL in trial.work.tasks and NEUTRAL not in trial.tasks:
        plan[NEUTRAL] = own
    return plan


def _rows(
    trial: Trial, controls: Sequence[str], plan: dict[str, Plan], title: str, cell: Callable[..., Cell]
) -> list[Evidence]:
    outcomes = trial.run(title, SPLIT, {task: partial(cell, trial, _flat(own)) for task, own in plan.items()})
    found = []
    for eval_task, outcome in outcomes.items():
        named = [(task, control) for task in plan[eval_task] for control in controls]
        for metric, (values, level, low, high) in changes(outcome, outcome[:1], trial.groups(eval_task)).items():
            for i, (task, control) in enumerate(named, start=1):
                k = len(trial.rankings[task].top(trial.settings.k))
                row = (metric, float(values[i]), level, float(low[i]), float(high[i]), k)
                found.append(Evidence("steer", task, eval_task, control, *row))
    return found


def _flat(plan: Plan) -> Tensor:
    """The interventions of all tasks below each other."""
    return torch.stack([own for many in plan.values() for own in many])


def _pushes(trial: Trial) -> dict[str, Tensor]:
    """Per task: sigma * theta / |theta| of its top heads, [layer, head, head_dim], zero for all others."""
    model = trial.work.model
    features = collect(trial.work, "fit", Reading(), trial.tasks)  # those of the probe, if it was among the methods
    answered = _answered(trial)
    pushes = {}
    for task in trial.tasks:
        right = answered[task].hit[0] > 0
        if min(right.sum(), (~right).sum()) < FEWEST:
            trial.work.runner.reporter.say(
                f"{task} is not steered: {right.sum()} items right and {(~right).sum()} wrong in the fit split; a "
                f"direction needs {FEWEST} of each."
            )
            continue
        z = torch.from_numpy(features[task]).unflatten(1, (model.n_layers, model.n_heads, model.head_dim))
        chosen = torch.zeros(*model.shape, 1)
        for layer, head in trial.rankings[task].top(trial.settings.k):
            chosen[layer, head] = 1
        pushes[task] = chosen * direction(z, torch.from_numpy(right))
    return pushes


def _answered(trial: Trial) -> dict[str, Outcome]:
    """How the intact model does on the items of `fit`, on which the map has measured its competence."""
    pairs = [(task, batch) for task in trial.tasks for batch in trial.batches(task, "fit")]
    cells = [score_cell(trial.work, batch) for _, batch in pairs]
    scores: dict[str, list[tuple[int, Array, Array]]] = {task: [] for task in trial.tasks}
    for (task, batch), result in zip(pairs, trial.work.runner.run("Right and wrong items", cells), strict=True):
        scores[task] += per_example(batch, result["logprobs"][None], result["greedy"][None])
    return {task: in_order(own) for task, own in scores.items()}


def direction(z: Tensor, right: Tensor) -> Tensor:
    """sigma * theta / |theta| for every head of z [example, layer, head, head_dim]."""
    theta = z[right].mean(0) - z[~right].mean(0)
    unit = torch.nn.functional.normalize(theta, dim=-1)
    return (z * unit).sum(-1).std(0)[..., None] * unit


def _strengths(trial: Trial, pushes: Mapping[str, Tensor]) -> dict[str, float]:
    """For each task the strength with the best accuracy on `choose`; of equals the one with the best log-prob."""
    alphas = trial.settings.strengths
    tried = {task: torch.stack([alpha * push for alpha in alphas]) for task, push in pushes.items()}
    made = {task: partial(_push_cell, trial, own) for task, own in tried.items()}
    chosen = {}
    for task, outcome in trial.run("Strength of steering", "choose", made).items():
        chosen[task] = max(zip(outcome.hit[1:].mean(1), outcome.logprob[1:].mean(1), alphas, strict=True))[2]
    return chosen


def _push_cell(trial: Trial, pushes: Tensor, batch: Batch) -> Cell:
    """Scores of the intact model, then of each push."""
    pushes = torch.cat([torch.zeros_like(pushes[:1]), pushes])
    key = hashlib.sha256(pushes.numpy().tobytes()).hexdigest()[:16]
    inputs = trial.work.inputs("push", batch=batch.key, pushes=key)
    return Cell(inputs, lambda: push_batch(trial.work.model, batch, pushes), batch.ids.numel() * len(pushes))


def _scale_cell(trial: Trial, gates: Tensor, batch: Batch) -> Cell:
    """Scores of the intact model, then under each of the gates."""
    gates = torch.cat([torch.ones(1, *trial.work.model.shape), gates])
    inputs = trial.work.inputs("scale", batch=batch.key, gates=gates.tolist())
    return Cell(inputs, lambda: gate_batch(trial.work.model, batch, gates, None), batch.ids.numel() * len(gates))


def _scaled(trial: Trial, task: str) -> list[Tensor]:
    """Gates that scale the top heads of a task by each factor."""
    top = trial.rankings[task].top(trial.settings.k)
    made = []
    for scale in trial.settings.scales:
        gates = torch.ones(trial.work.model.shape)
        for layer, head in top:
            gates[layer, head] = scale
        made.append(gates)
    return made


@torch.inference_mode()
def push_batch(model: HeadModel, batch: Batch, pushes: Tensor) -> Result:
    """Scores [push, slot] with each of the pushes [push, layer, head, head_dim] added where answers are predicted."""
    first = torch.full((batch.size,), batch.ids.shape[1])
    first = first.scatter_reduce(0, batch.rows, batch.positions, "amin")
    writing = (torch.arange(batch.ids.shape[1]) >= first[:, None]).float()[..., None, None]
    room = max(1, FORWARD_TOKENS // batch.ids.numel())
    logprobs: list[Array] = []
    greedy: list[Array] = []
    for some in pushes.split(room):
        touched = some.flatten(2).abs().sum((0, 2)).nonzero().flatten().tolist()
        # [push, row, pos, head, head_dim], the rows of a push together
        added = {layer: (some[:, None, None, layer] * writing).flatten(0, 1) for layer in touched}
        with model.add(added):
            scores, exact = batch.repeat(len(some)).score(model)
        logprobs.append(scores.view(len(some), -1).numpy())
        greedy.append(exact.view(len(some), -1).numpy())
    return {"logprobs": np.concatenate(logprobs), "greedy": np.concatenate(greedy).astype(np.uint8)}
