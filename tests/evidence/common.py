"""A small trial, and the slow and obvious way to score what it scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import torch

from headatlas.evidence.choice import Ranking
from headatlas.evidence.trial import Evidence, Settings, Trial
from headatlas.model.heads import HeadModel
from headatlas.run.cells import Runner
from headatlas.run.context import Work
from headatlas.run.scoring import Encoder
from headatlas.suites.example import Example
from headatlas.suites.suite import Suite
from tests import tiny

SMALL = {"ks": (1, 2), "k": 2, "draws": 5, "few_draws": 3, "sizes": (2, 4), "examples": None, "chains": None}


def trial(
    folder: Path,
    model: HeadModel | None = None,
    suite: Suite | None = None,
    grids: Mapping[str, np.ndarray] | None = None,
    tasks: Sequence[str] = ("Colours", "Numbers"),
    chains: Sequence[Example] = (),
    **settings,
) -> Trial:
    """Maps are noise unless given."""
    model = model or tiny.model()
    work = Work(model, (suite or tiny.suite()).split(), Runner(folder, tiny.Listener()), Encoder(model))
    drawn = {task: np.random.default_rng(i).normal(size=model.shape) for i, task in enumerate(tasks)}
    rankings = {task: Ranking.of((grids or drawn)[task]) for task in tasks}
    return Trial(work, tasks, rankings, Settings(**SMALL | settings), chains)


def first(head: tuple[int, int], shape: tuple[int, int] = (3, 4)) -> np.ndarray:
    """A map that ranks one head first, and the others by their place."""
    grid = np.linspace(0.02, 0.01, shape[0] * shape[1]).reshape(shape)
    grid[head] = 1.0
    return grid


def gate(heads, shape: tuple[int, int] = (3, 4)) -> torch.Tensor:
    gates = torch.ones(shape)
    for layer, head in heads:
        gates[layer, head] = 0
    return gates


def tokens(text: str) -> list[int]:
    return tiny.tokenizer()(text)["input_ids"]


@torch.no_grad()
def plain(model: HeadModel, example: Example, context=None) -> list[float]:
    """The log-probability of every option of an example, each alone and without padding."""
    scores = []
    for option in (example.answer, *example.distractors):
        start, ids = len(tokens(example.prompt)), tokens(example.prompt + option)
        with context or nullcontext():
            logprobs = model.module(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
        scores.append(sum(logprobs[i - 1, ids[i]].item() for i in range(start, len(ids))))
    return scores


def without(model: HeadModel, example: Example, heads, baseline=None) -> list[float]:
    """The same with heads removed."""
    scores = []
    for option in (example.answer, *example.distractors):
        one = example.model_copy(update={"answer": option, "distractors": ()})
        scores += plain(model, one, model.gate(gate(heads, model.shape), baseline))
    return scores


def hit(scores: list[float]) -> float:
    return float(scores[0] > max(scores[1:]))


def rows(found: Sequence[Evidence], **where) -> list[Evidence]:
    chosen = [row for row in found if all(getattr(row, key) == value for key, value in where.items())]
    assert chosen, where
    return chosen


def row(found: Sequence[Evidence], **where) -> Evidence:
    (one,) = rows(found, **where)
    return one
