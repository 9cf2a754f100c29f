"""Forwards of the intact model in which the options of a batch are scored, and whatever else is read in them.

Competence runs every example. A method that needs z of the intact model on the same examples reads it there, as a
`Reader`: its cell and that of the scores are computed together, in one forward, and give the bits of each alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import torch
from torch import Tensor

from headatlas.model.heads import Edit, HeadModel
from headatlas.run.batches import Batch
from headatlas.run.cells import Cell, CellKind, Result
from headatlas.run.context import RunContext
from headatlas.run.interventions import result_of, where_scored

INTACT = CellKind("intact scores", 2)


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
    return context.cell(INTACT, lambda: _run(context.model, batch, ())[0], batch.ids.numel(), batch=batch.key)


def reader_cell(context: RunContext, batch: Batch, reader: Reader) -> Cell:
    """What a reader reads, in a forward for it alone."""
    return context.cell(
        reader.kind,
        lambda: _run(context.model, batch, (reader,))[1],
        batch.ids.numel() + reader.tokens,
        forwards=1 + reader.forwards,
        batch=batch.key,
        **reader.inputs,
    )


def intact_cells(context: RunContext, batch: Batch, readers: Sequence[Reader]) -> list[Cell]:
    """The cells of `intact_cell` and of `reader_cell`, in one forward. Scores do not fail because a reader does."""
    scores, read = intact_cell(context, batch), [reader_cell(context, batch, reader) for reader in readers]
    if not readers:
        return [scores]

    @cache
    def run() -> tuple[Sequence[Result], Exception | None]:
        try:
            return _run(context.model, batch, readers), None
        except Exception as error:
            return _run(context.model, batch, ()), error

    def computed(number: int) -> Callable[[], Result]:
        def compute() -> Result:
            results, error = run()
            if error is not None and number:
                raise error
            return results[number]

        return compute

    # The scores count the forward, and readers what they run besides.
    more = [replace(cell, tokens=r.tokens, forwards=r.forwards) for cell, r in zip(read, readers, strict=True)]
    return [replace(cell, compute=computed(number), group=scores.key) for number, cell in enumerate([scores, *more])]


@torch.inference_mode()
def _run(model: HeadModel, batch: Batch, readers: Sequence[Reader]) -> list[Result]:
    """The scores of a batch, then the result of every reader."""
    with where_scored(model), ExitStack() as reading:
        read = [reading.enter_context(model.capture(reduce=reader.reduce)) for reader in readers]
        logits = batch.logits(model)
    finished = [reader.finish(z, logits) for reader, z in zip(readers, read, strict=True)]
    return [result_of(*batch.scores(model, logits)), *finished]
