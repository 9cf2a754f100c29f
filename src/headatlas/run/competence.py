"""Can the intact model do the task at all? Without that a map of the task means nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import torch

from headatlas.atlas.verdicts import AT_CHANCE, COMPETENT
from headatlas.run.cells import Cell, Result
from headatlas.run.context import Work
from headatlas.run.scoring import Batch, make_batches
from headatlas.stats import proportion_interval
from headatlas.suites.example import Example
from headatlas.suites.suite import SPLITS


@dataclass(frozen=True)
class Competence:
    """How the intact model does on one task.

    `accuracy` is forced choice among the answer and its distractors, or greedy exact match where there are none; `low`
    and `high` its 95 % interval, `chance` what guessing gives; `margin` the log-probability of the answer over the best
    distractor (absent without distractors); `exact` the share that greedy decoding gets right. `kept` counts the items
    that were mapped: 0 for a task that was not.
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


def competence(work: Work) -> tuple[list[Competence], set[str]]:
    """One entry a task, over all examples of all splits; and the ids of the examples that the model gets right."""
    examples = {task: [e for split in SPLITS for e in work.examples(task, split)] for task in work.tasks}
    cells, owners = [], []
    for task in work.tasks:
        before = 0
        for split in SPLITS:  # apart, so that the scores of a split are found again by those who need only it
            own = [work.encoder.encode(example) for example in work.examples(task, split)]
            for batch in make_batches(own):
                cells.append(score_cell(work, batch))
                owners.append((task, batch, before))
            before += len(own)
    scores: dict[str, dict[int, tuple[np.ndarray, np.ndarray]]] = {task: {} for task in work.tasks}
    for (task, batch, before), result in zip(owners, work.runner.run("Competence", cells), strict=True):
        for place, member in enumerate(batch.members):
            options = batch.owners.numpy() == place
            scores[task][before + member] = result["logprobs"][options], result["greedy"][options]
    known: set[str] = set()
    entries = []
    for task in work.tasks:
        hits = np.array([_hit(*scores[task][i]) for i in range(len(scores[task]))])
        entries.append(_judge(task, examples[task], hits, scores[task]))
        known.update(example.id for example, hit in zip(examples[task], hits, strict=True) if hit)
    return entries, known


def score_cell(work: Work, batch: Batch) -> Cell:
    """What the intact model makes of a batch: `logprobs` and `greedy` [slot]."""
    return Cell(work.inputs("score", batch=batch.key), lambda: _score(work, batch), batch.ids.numel())


@torch.inference_mode()
def _score(work: Work, batch: Batch) -> Result:
    logprobs, greedy = batch.score(work.model)
    return {"logprobs": logprobs.cpu().numpy(), "greedy": greedy.cpu().numpy().astype(np.uint8)}


def _hit(options: np.ndarray, greedy: np.ndarray) -> bool:
    """Options come answer first, as the encoder gives them."""
    return bool(options[0] > options[1:].max() if len(options) > 1 else greedy[0])


def _chance(examples: list[Example]) -> float:
    """What guessing gives: one of the options, or where there are none the commonest answer of the task."""
    commonest = Counter(example.answer for example in examples).most_common(1)[0][1] / len(examples)
    return float(np.mean([1 / (1 + len(e.distractors)) if e.distractors else commonest for e in examples]))


def _judge(
    task: str, examples: list[Example], hits: np.ndarray, scores: dict[int, tuple[np.ndarray, np.ndarray]]
) -> Competence:
    ordered = [scores[i] for i in range(len(scores))]
    exact = np.array([greedy[0] for _, greedy in ordered], dtype=float)
    margins = np.array([options[0] - options[1:].max() if len(options) > 1 else np.nan for options, _ in ordered])
    chance = _chance(examples)
    low, high = proportion_interval(hits, [example.group for example in examples])
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
        verdict=COMPETENT if low > chance else AT_CHANCE,
    )
