"""Forwards of the intact model in which the options of a batch are scored, and whatever else is read in them.

Competence runs every example. A method that needs z of the intact model on the same examples reads it there, as a
`Reader`: its cell and that of the scores are computed together, in one forward, and give the bits of each alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from headatlas.model.heads import Edit, HeadModel
from headatlas.run.batches import Batch
from headatlas.run.cells import Cell, CellKind, Result
from headatlas.run.context import RunContext
from headatlas.run.interventions import result_of, where_scored

INTACT = CellKind("intact scores", 2)
Outcome = Result | Exception


@dataclass(frozen=True)
class Reader:
    """What is read in the forward that scores a batch, as a cell of some `kind` with `inputs` besides the batch.

    `reduce` takes the layer and z as it passes, and returns what is needed of it. `finish` makes the result of that, by
    layer, and of the logits [place, vocabulary] at `batch.places`. It runs so many more `tokens` in so many `forwards`;
    its result has so many `bytes`.
    """

    kind: CellKind
    reduce: Edit
    finish: Callable[[Mapping[int, Tensor], Tensor], Result]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    tokens: int = 0
    forwards: int = 0
    bytes: int = 0


def intact_cell(context: RunContext, batch: Batch) -> Cell:
    """What the intact model makes of a batch: `logprobs` and `greedy` [slot]."""
    run = partial(_run, context.model, batch, ())
    return context.cell(INTACT, lambda: _settled(run()[0]), batch.ids.numel(), batch=batch.key)


def reader_cell(context: RunContext, batch: Batch, reader: Reader) -> Cell:
    """What a reader reads, in a forward for it alone."""
    run, tokens = partial(_run, context.model, batch, (reader,)), batch.ids.numel() + reader.tokens
    forwards = 1 + reader.forwards
    return context.cell(
        reader.kind, lambda: _settled(run()[1]), tokens, forwards=forwards, batch=batch.key, **reader.inputs
    )


def intact_cells(context: RunContext, batch: Batch, readers: Sequence[Reader]) -> list[Cell]:
    """The scores of a batch and what readers read, in one forward: the cells of `intact_cell` and `reader_cell`."""
    alone = [intact_cell(context, batch), *(reader_cell(context, batch, reader) for reader in readers)]
    if not readers:
        return alone
    run = cache(partial(_run, context.model, batch, tuple(readers)))

    def computed(number: int) -> Callable[[], Result]:
        return lambda: _settled(run()[number])

    together = [replace(cell, compute=computed(number), group=alone[0].key) for number, cell in enumerate(alone)]
    # The scores count the forward, readers what they run besides.
    more = [replace(cell, tokens=r.tokens, forwards=r.forwards) for cell, r in zip(together[1:], readers, strict=True)]
    return [together[0], *more]


@torch.inference_mode()
def _run(model: HeadModel, batch: Batch, readers: Sequence[Reader]) -> list[Outcome]:
    """The scores of a batch, then the outcome of every reader. Each may fail without the others."""
    with where_scored(model), ExitStack() as reading:
        read = [reading.enter_context(model.capture(reduce=reader.reduce)) for reader in readers]
        logits = batch.logits(model)
    finished = [_attempt(partial(reader.finish, z, logits)) for reader, z in zip(readers, read, strict=True)]
    return [result_of(*batch.scores(model, logits)), *finished]


def _attempt(compute: Callable[[], Result]) -> Outcome:
    try:
        return compute()
    except Exception as error:
        return error


def _settled(outcome: Outcome) -> Result:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome
