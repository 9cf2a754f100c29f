"""Can the intact model do the task at all? Without that a map of the task means nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from headatlas.cells import Cell, Result
from headatlas.methods.work import Work
from headatlas.scoring import Batch, make_batches
from headatlas.stats import proportion_interval
from headatlas.suites.suite import SPLITS


@dataclass(frozen=True)
class Competence:
    """How the intact model does on one task.

    `accuracy` is forced choice among the answer and its distractors, or greedy exact match where there are none; `low`
    and `high` its 95 % interval, `chance` what guessing gives; `margin` the log-probability of the answer over the best
    distractor (absent without distractors); `exact` the share that greedy decoding gets right.
    """

    task: str
    items: int
    accuracy: float
    low: float
    high: float
    chance: float
    logprob: float
    margin: float | None
    exact: float
    kept: int
    verdict: str


def competence(work: Work) -> list[Competence]:
    """One entry a task, over all examples of all splits."""
    encoded, cells, owners = {}, [], []
    for task in work.tasks:
        examples = [example for split in SPLITS for example in work.examples(task, split)]
        encoded[task] = examples
        for batch in make_batches([work.encoder.encode(example) for example in examples]):
            cells.append(_cell(work, batch))
            owners.append((task, batch))
    scores: dict[str, dict[int, tuple[np.ndarray, np.ndarray]]] = {task: {} for task in work.tasks}
    for (task, batch), result in zip(owners, work.runner.run("Competence", cells), strict=True):
        for place, member in enumerate(batch.members):
            own = batch.owners.numpy() == place
            scores[task][member] = result["logprobs"][own], result["greedy"][own]
    return [_judge(task, [e.group for e in encoded[task]], scores[task]) for task in work.tasks]


def _cell(work: Work, batch: Batch) -> Cell:
    return Cell(work.inputs("score", batch=batch.key), lambda: _score(work, batch), batch.ids.numel())


@torch.inference_mode()
def _score(work: Work, batch: Batch) -> Result:
    logprobs, greedy = batch.score(work.model)
    return {"logprobs": logprobs.cpu().numpy(), "greedy": greedy.cpu().numpy().astype(np.uint8)}


def _judge(task: str, groups: list[str], scores: dict[int, tuple[np.ndarray, np.ndarray]]) -> Competence:
    """Options come answer first, as the encoder gives them."""
    ordered = [scores[i] for i in range(len(scores))]
    exact = np.array([greedy[0] for _, greedy in ordered], dtype=float)
    margins = np.array([options[0] - options[1:].max() if len(options) > 1 else np.nan for options, _ in ordered])
    hits = np.where(np.isnan(margins), exact, margins > 0)
    chance = float(np.mean([1 / len(options) if len(options) > 1 else 0.0 for options, _ in ordered]))
    low, high = proportion_interval(hits, groups)
    return Competence(
        task=task,
        items=len(ordered),
        accuracy=float(hits.mean()),
        low=low,
        high=high,
        chance=chance,
        logprob=float(np.mean([options[0] for options, _ in ordered])),
        margin=None if np.isnan(margins).all() else float(np.nanmean(margins)),
        exact=float(exact.mean()),
        kept=len(ordered),
        verdict="competent" if low > chance else "not competent",
    )
