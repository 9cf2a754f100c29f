"""The truth about a planted model: what each task loses without each head, found by editing weights.

Nothing here uses the hooks of `HeadModel`: a head is removed by setting its part of the out-projection to zero in the
weights themselves, and the model then runs as transformers runs it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from headatlas.errors import HeadAtlasError
from headatlas.planted.words import ids, prompt_ids
from headatlas.suites.example import Example
from headatlas.wording import head_name

if TYPE_CHECKING:
    from headatlas.planted.base import Planted
    from headatlas.planted.canvas import Canvas, Head

# Of a task's intact margin: a head that costs more matters, one that costs less does not, and no head lies between.
MATTERS, IGNORED = 0.2, 0.1
MEASURED, PAIRED = 60, 24  # examples of a task behind its truth, and behind what it loses without two heads
ROLES = ("helps", "hurts", "backup", "none")


@dataclass(frozen=True)
class HeadTruth:
    """What a task loses without one head, in nats of its margin; `given` is the most that it loses by that head when
    one of the helping heads is gone already."""

    task: str
    layer: int
    head: int
    effect: float
    given: float
    role: str


@dataclass(frozen=True)
class Truth:
    """One row per task and head, and the intact margin of every task."""

    rows: tuple[HeadTruth, ...]
    margins: dict[str, float]

    def roles(self, task: str) -> dict[Head, str]:
        return {(row.layer, row.head): row.role for row in self.rows if row.task == task}

    def effects(self, task: str) -> dict[Head, float]:
        return {(row.layer, row.head): row.effect for row in self.rows if row.task == task}

    def to_csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("task", "layer", "head", "effect", "given", "role"))
        for row in self.rows:
            writer.writerow((row.task, row.layer, row.head, f"{row.effect:.4f}", f"{row.given:.4f}", row.role))
        return text.getvalue()


def establish(planted: Planted, seed: int = 0) -> Truth:
    """Measure a planted model. Refused where effects leave a doubt, or where they are not what was planted."""
    canvas, suite = planted.draw(seed), planted.suite(seed)
    rows: list[HeadTruth] = []
    margins = {}
    for task in suite.tasks:
        examples = suite.of(task)[:MEASURED]
        margins[task] = margin(canvas, examples)
        rows += _task_truth(canvas, task, examples, margins[task])
    truth = Truth(tuple(rows), margins)
    for task in suite.tasks:
        found = {head: role for head, role in truth.roles(task).items() if role != "none"}
        if found != dict(planted.roles.get(task, {})):
            raise HeadAtlasError(
                f"The planted model {planted.name!r} (seed {seed}) is not what it was made to be: heads of {task!r} "
                f"are {_named(found)}; planted were {_named(planted.roles.get(task, {}))}."
            )
    return truth


def _named(roles: Mapping[Head, str]) -> str:
    return ", ".join(f"{head_name(*head)} {role}" for head, role in roles.items()) or "none"


def _task_truth(canvas: Canvas, task: str, examples: Sequence[Example], intact: float) -> list[HeadTruth]:
    heads = [(layer, head) for layer in range(canvas.layers) for head in range(canvas.heads)]
    effects = {head: intact - margin(canvas, examples, (head,)) for head in heads}
    doubtful = [head for head in heads if IGNORED <= abs(effects[head]) / intact <= MATTERS]
    if doubtful:
        raise HeadAtlasError(
            f"There is no clear gap between the heads of {task!r} that matter and the others: without "
            f"{head_name(*doubtful[0])} it loses {effects[doubtful[0]]:.2f} of {intact:.2f} nats."
        )
    helping = [head for head in heads if effects[head] > MATTERS * intact]
    given = {head: [0.0] for head in heads}
    for gone in helping:
        left = margin(canvas, examples[:PAIRED], (gone,))
        for head in heads:
            if head != gone:
                given[head].append(left - margin(canvas, examples[:PAIRED], (gone, head)))
    most = {head: max(losses, key=abs) for head, losses in given.items()}
    return [
        HeadTruth(task, *head, effects[head], most[head], _role(effects[head] / intact, most[head] / intact))
        for head in heads
    ]


def _role(effect: float, given: float) -> str:
    if abs(effect) > MATTERS:
        return "helps" if effect > 0 else "hurts"
    return "backup" if given > MATTERS else "none"


@torch.inference_mode()
def margin(canvas: Canvas, examples: Sequence[Example], removed: Sequence[Head] = ()) -> float:
    """The mean of log p(answer) - log p(the twin's answer) without some heads."""
    prompts, last = prompt_ids([example.prompt for example in examples])
    pairs = [(e.answer.strip(), e.counterfactual.answer.strip()) for e in examples if e.counterfactual]
    with without(canvas, removed):
        logits = canvas.module(input_ids=prompts, use_cache=False).logits.double()
    said = logits[torch.arange(len(last)), last].gather(1, torch.tensor([ids(pair) for pair in pairs]))
    return float((said[:, 0] - said[:, 1]).mean())


@contextmanager
def without(canvas: Canvas, removed: Sequence[Head]) -> Iterator[None]:
    """The model without what some heads write; afterwards as it was."""
    before = [canvas.write(head).clone() for head in removed]
    try:
        for head in removed:
            canvas.write(head).zero_()
        yield
    finally:
        for head, weights in zip(removed, before, strict=True):
            canvas.write(head).copy_(weights)
