"""Can the intact model do the task at all? Without that a map of the task means nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from headatlas.atlas.records import AT_CHANCE, COMPETENT, Competence
from headatlas.model.memory import Load
from headatlas.run.batches import Batch
from headatlas.run.cells import Cell, CellsFailed, Result
from headatlas.run.context import RunContext
from headatlas.run.intact import Reader, intact_cell, intact_cells
from headatlas.run.nesting import option_texts, without_continuations
from headatlas.run.outcomes import answer_wins, by_example
from headatlas.run.work import Step
from headatlas.stats import Array, proportion_interval
from headatlas.suites.example import Example
from headatlas.suites.suite import SPLITS

TITLE = "Competence"
Readers = Callable[[Batch], Sequence[Reader]]  # what is read in the forwards of competence besides its scores


def competence(context: RunContext, readers: Readers | None = None) -> tuple[list[Competence], set[str]]:
    """One entry per task, over all examples of all splits; and the ids of the examples that the model gets right."""
    batches = _batches(context)
    read = _read_with([batch for _, _, batch in batches], context, readers, context.runner.has)
    results = _run(context, [intact_cells(context, batch, reads) for batch, reads in read])
    scores: dict[str, dict[str, tuple[Array, Array]]] = {task: {} for task in context.tasks}
    known: set[str] = set()
    for (task, split, batch), result in zip(batches, results, strict=True):
        examples, texts = context.examples(task, split), option_texts(batch)
        for member, options, greedy in by_example(batch, result):
            scores[task][examples[member].id] = options, greedy
            if answer_wins(without_continuations(options, texts[member]), greedy):
                known.add(examples[member].id)
    entries = []
    for task in context.tasks:
        asked = [example for split in SPLITS for example in context.examples(task, split)]
        hits = np.array([example.id in known for example in asked])
        entries.append(_judge(task, asked, hits, [scores[task][example.id] for example in asked]))
    return entries, known


def competence_step(
    context: RunContext, readers: Readers | None = None, is_done: Callable[[Cell], bool] = lambda _: False
) -> Step:
    """The work of `competence`."""
    read = _read_with([batch for _, _, batch in _batches(context)], context, readers, is_done)
    cells = [cell for batch, reads in read for cell in intact_cells(context, batch, reads)]
    loads = [Load(batch.ids.numel(), places=len(batch.places[0])) for batch, _ in read]
    return Step(TITLE, cells, loads=loads, beside=sum(reader.bytes for _, reads in read for reader in reads))


def _read_with(
    batches: Sequence[Batch], context: RunContext, readers: Readers | None, is_done: Callable[[Cell], bool]
) -> list[tuple[Batch, Sequence[Reader]]]:
    """Every batch, and what is read while it is scored. Nothing where the scores are there already: of a task at chance
    nobody needs it, and whoever needs it later runs the batch again."""
    return [
        (batch, readers(batch) if readers and not is_done(intact_cell(context, batch)) else ()) for batch in batches
    ]


def _run(context: RunContext, cells: Sequence[Sequence[Cell]]) -> list[Result]:
    """The scores of every batch, which come first of its cells. What is read beside may fail: the method that needs it
    will find that out."""
    every, scores = [cell for together in cells for cell in together], [together[0] for together in cells]
    try:
        results = context.runner.run(TITLE, every)
    except CellsFailed:
        if len(every) == len(scores):
            raise
        return context.runner.run(TITLE, scores)
    by_key = {cell.key: result for cell, result in zip(every, results, strict=True)}
    return [by_key[cell.key] for cell in scores]


def _batches(context: RunContext) -> list[tuple[str, str, Batch]]:
    """With their task and split. Split by split, so that whoever needs the scores of one split finds its cells."""
    return [
        (task, split, batch)
        for task in context.tasks
        for split in SPLITS
        for batch in context.intact_batches(task, split)
    ]


def _chance(examples: list[Example]) -> float:
    """What guessing gives: one of the options, or where there are none the most frequent answer of the task."""
    most_frequent = Counter(example.answer for example in examples).most_common(1)[0][1] / len(examples)
    return float(np.mean([1 / (1 + len(e.distractors)) if e.distractors else most_frequent for e in examples]))


def _judge(task: str, examples: list[Example], hits: Array, scores: list[tuple[Array, Array]]) -> Competence:
    margins = np.array([options[0] - options[1:].max() if len(options) > 1 else np.nan for options, _ in scores])
    chance = _chance(examples)
    low, high = proportion_interval(hits, [example.group for example in examples])
    return Competence(
        task=task,
        items=len(scores),
        accuracy=float(hits.mean()),
        low=low,
        high=high,
        chance=chance,
        logprob=float(np.mean([options[0] for options, _ in scores])),
        margin=None if np.isnan(margins).all() else float(np.nanmean(margins)),
        exact=float(np.mean([float(greedy[0]) for _, greedy in scores])),
        mapped=len(scores),
        verdict=COMPETENT if low > chance else AT_CHANCE,
    )
