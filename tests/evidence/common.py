"""A small trial, and the slow and obvious way to score what it scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import torch

from headatlas.atlas.records import Evidence
from headatlas.evidence.base import TestSettings
from headatlas.evidence.choice import Ranking
from headatlas.evidence.trial import Trial
from headatlas.model.heads import HeadModel
from headatlas.suites.example import Example
from headatlas.suites.suite import Suite
from tests.run.contexts import run_context
from tests.run.reference import encoded, plain_logprob

SMALL = {"ks": (1, 2), "k": 2, "draws": 5, "few_draws": 3, "sizes": (2, 4), "examples": None, "chains": None}


def ranking(grid: np.ndarray) -> Ranking:
    """Heads in the order of their values, largest first, as an atlas ranks them; those without a value are left out."""
    heads = [(int(layer), int(head)) for layer, head in np.argwhere(np.isfinite(grid))]
    order = np.argsort([-grid[head] for head in heads], kind="stable")
    return Ranking.from_map([heads[i] for i in order], grid)


def make_trial(
    folder: Path,
    model: HeadModel | None = None,
    suite: Suite | None = None,
    grids: Mapping[str, np.ndarray] | None = None,
    tasks: Sequence[str] = ("Colours", "Numbers"),
    chains: Sequence[Example] = (),
    twinned: Sequence[str] = (),
    units: Mapping[str, float] | None = None,
    **settings,
) -> Trial:
    """Maps are noise unless given. A task called Neutral is the neutral one, Retrieval low-level, Inference high."""
    context = run_context(folder, model, suite)
    noise = {task: np.random.default_rng(i).normal(size=context.model.shape) for i, task in enumerate(tasks)}
    rankings = {task: ranking((grids or noise)[task]) for task in tasks}
    return Trial(
        context,
        tasks,
        rankings,
        TestSettings(**SMALL | settings),
        chains,
        neutral="Neutral" if "Neutral" in context.tasks else None,
        low_level=("Retrieval",),
        high_level=("Inference",),
        twinned=twinned,
        units=units,
    )


def first(head: tuple[int, int], shape: tuple[int, int] = (3, 4)) -> np.ndarray:
    """A map that ranks one head first, and the others in the order of the model."""
    grid = np.linspace(0.02, 0.01, shape[0] * shape[1]).reshape(shape)
    grid[head] = 1.0
    return grid


def gate(heads, shape: tuple[int, int] = (3, 4)) -> torch.Tensor:
    gates = torch.ones(shape)
    for layer, head in heads:
        gates[layer, head] = 0
    return gates


def plain(model: HeadModel, example: Example, change=None) -> list[float]:
    """The log-probability of every option of an example, each alone and without padding, while `change` is in force.

    `change` makes a context manager from the tokens of an option and the number of those that are the prompt.
    """
    scores = []
    for option in (example.answer, *example.distractors):
        start, tokens = len(encoded(example.prompt)), encoded(example.prompt + option)
        with nullcontext() if change is None else change(tokens, start):
            scores.append(plain_logprob(model, tokens, start))
    return scores


def without(model: HeadModel, example: Example, heads, baseline=None) -> list[float]:
    """The same with heads removed."""
    return plain(model, example, lambda *_: model.gate(gate(heads, model.shape), baseline))


def hit(scores: list[float]) -> float:
    return float(scores[0] > max(scores[1:]))


def rows(evidence: Sequence[Evidence], **where) -> list[Evidence]:
    """Rows with these columns. Levels are meant unless `compared_with` is given: differences are no levels."""
    where = {"compared_with": None} | where
    chosen = [row for row in evidence if all(getattr(row, key) == value for key, value in where.items())]
    assert chosen, where
    return chosen


def row(evidence: Sequence[Evidence], **where) -> Evidence:
    (one,) = rows(evidence, **where)
    return one
