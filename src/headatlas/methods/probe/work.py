"""The work of a probe before it is fitted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from headatlas.methods.probe import linear, paper
from headatlas.methods.probe.data import ProbeData
from headatlas.methods.probe.features import WITHOUT_QUESTION, feature_cells, title
from headatlas.methods.probe.reading import Reading
from headatlas.run.context import RunContext
from headatlas.run.generation import LONGEST, answer_cells
from headatlas.run.generation import TITLE as GENERATED
from headatlas.run.work import Step
from headatlas.suites.suite import SPLITS, Suite

if TYPE_CHECKING:
    from headatlas.methods.probe.probe import Probe

READ_AGAIN = 3  # tokens that a broken character, of which a small model writes some, is read as


def probe_steps(probe: Probe, context: RunContext) -> list[Step]:
    """Answers, features of every split, and fits, which run no model.

    How long generated answers are is not known before: features are planned with the reference answers, and at most
    with answers of `LONGEST` tokens, each of which may be read again as several.
    """
    steps, reading = [], Reading(probe.tokens, probe.k)
    generated = probe.answers == "generated"
    if generated:
        steps.append(Step(GENERATED, answer_cells(context, LONGEST)))
    read = _without_distractors(context) if generated else context
    for split in SPLITS:
        cells = [cell for task_cells in feature_cells(read, split, reading).values() for cell in task_cells]
        most = sum(_most_tokens(context, task, split) for task in context.tasks) if generated else None
        steps.append(Step(title(split), cells, most))
    data = ProbeData.of(context, {split: torch.zeros(0) for split in SPLITS})
    if probe.kind == "paper":
        steps.append(Step(paper.EPOCHS_TITLE, [paper.epochs_cell(context, data)]))
        cells = paper.paper_cells(context, data, probe.shuffles, probe.seeds, paper.EPOCHS)
        steps.append(Step(paper.TITLE, cells, loads=(), beside=_feature_bytes(context) + paper.fit_bytes(context)))
    else:
        cells = linear.linear_cells(context, data, probe.shuffles, probe.seeds)
        fitting = linear.fit_bytes(context, probe.shuffles, probe.seeds)
        steps.append(Step(linear.TITLE, cells, loads=(), beside=_feature_bytes(context) + fitting))
    return steps


def _without_distractors(context: RunContext) -> RunContext:
    """As with generated answers, which are read alone."""

    def bare(suite: Suite) -> Suite:
        return replace(suite, examples=tuple(e.model_copy(update={"distractors": ()}) for e in suite.examples))

    return context.with_splits({split: bare(suite) for split, suite in context.splits.items()})


def _feature_bytes(context: RunContext) -> int:
    """Of the features of all examples."""
    examples = sum(len(context.splits[split].examples) for split in SPLITS)
    return 4 * examples * len(context.heads) * context.model.head_dim


def _most_tokens(context: RunContext, task: str, split: str) -> int:
    """Every text is padded to the longest at most, and read once with its question and once without."""
    encoder, examples = context.encoder, context.examples(task, split)
    longest = max(len(encoder.prompt_ids(example.prompt)) for example in examples)
    return len(examples) * (longest + len(encoder.ids(WITHOUT_QUESTION)) + 2 * READ_AGAIN * LONGEST)
