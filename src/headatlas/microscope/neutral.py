"""A head on plain text, away from any task: how much it matters there, and where it looks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import torch

from headatlas.atlas.portraits import Neutral
from headatlas.atlas.records import Head
from headatlas.methods.effects import relative_depth, single_heads
from headatlas.microscope.looks import ANSWER, CHANGED, FOIL, KINDS, attention_of, kinds, listed
from headatlas.microscope.view import numbers
from headatlas.run.ablation import ablate_each, ablation_forwards
from headatlas.run.baselines import mean_cell
from headatlas.run.batches import Batch, make_batches
from headatlas.run.cells import Cell, CellKind, Result
from headatlas.run.context import RunContext
from headatlas.run.encoding import Option
from headatlas.stats import Array
from headatlas.suites.example import Example

LOST, LOOKS = CellKind("loss on plain text"), CellKind("attention on plain text")
TITLE = "Plain text"
TEXTS = 16  # held-out texts, and twice as many for means
WINDOW, SCORED = 64, 16  # tokens of a text, and how many at its end are scored
FEWEST = 6  # tokens


def on_plain_text(
    context: RunContext, heads: Sequence[Head], held_out: Sequence[Example], fit: Sequence[Example]
) -> dict[Head, Neutral]:
    """What the last tokens of texts lose on average with a head at its mean over other texts, and the shares of its
    attention from the third token of each text on."""
    chosen = [(example, tokens) for example in held_out[:TEXTS] if (tokens := _window(context, example))]
    groups = [example.group for example, _ in chosen]
    means = [tokens for example in fit[: 2 * TEXTS] if (tokens := _window(context, example))]
    mean = mean_cell(context, make_batches([[Option(tokens, 1)] for tokens in means]))
    batches = make_batches([[Option(tokens, max(1, len(tokens) - SCORED))] for _, tokens in chosen])
    baseline = torch.from_numpy(context.runner.run("Mean of every head", [mean])[0]["mean"])
    cells = [_loss_cell(context, heads, batch, baseline, mean.key) for batch in batches]
    cells += [_look_cell(context, heads, batch) for batch in batches]
    results = context.runner.run(TITLE, cells)
    lost = np.empty((len(chosen), len(heads)))
    looked: list[Array] | None = []
    for batch, losses, look in zip(batches, results[: len(batches)], results[len(batches) :], strict=True):
        lost[list(batch.members)] = losses["lost"]
        looked = None if looked is None or "unavailable" in look else [*looked, look["shares"]]
    shares = None if looked is None else np.concatenate(looked).mean(0)
    unused = (ANSWER, FOIL, CHANGED)
    return {
        head: Neutral(
            texts=len(chosen), lost=number, looks=None if shares is None else listed(shares[i], leave_out=unused)
        )
        for i, (head, number) in enumerate(zip(heads, numbers(lost, groups), strict=True))
    }


def _window(context: RunContext, example: Example) -> tuple[int, ...] | None:
    """The beginning of a text; None where there is too little of it."""
    encoder = context.encoder
    tokens = encoder.ids(encoder.prompt_text(example.prompt) + example.answer)[: min(WINDOW, encoder.context)]
    return tuple(tokens) if len(tokens) >= FEWEST else None


def _loss_cell(context: RunContext, heads: Sequence[Head], batch: Batch, mean: torch.Tensor, key: str) -> Cell:
    units, model = single_heads(heads), context.model

    def compute() -> Result:
        scored = torch.bincount(batch.slots).numpy()  # tokens of each text; a text is one slot
        return {"lost": ablate_each(model, batch, units, mean) / scored[:, None]}

    tokens = batch.ids.numel()
    return context.cell(
        LOST,
        compute,
        tokens * (1 + relative_depth(units, model.n_layers)),
        forwards=ablation_forwards(units, tokens),
        batch=batch.key,
        heads=[list(head) for head in heads],
        mean=key,
    )


def _look_cell(context: RunContext, heads: Sequence[Head], batch: Batch) -> Cell:
    listed_heads = [list(head) for head in heads]
    return context.cell(
        LOOKS, partial(_looks, context, heads, batch), batch.ids.numel(), batch=batch.key, heads=listed_heads
    )


def _looks(context: RunContext, heads: Sequence[Head], batch: Batch) -> Result:
    """`shares` [text, head, kind], from the third token on: before it, kinds coincide."""
    weights = attention_of(context, batch.ids, heads)
    if weights is None:
        return {"unavailable": np.zeros(1)}
    shares = np.zeros((batch.size, len(heads), len(KINDS)))
    for row, (ids, length) in enumerate(zip(batch.ids.tolist(), batch.lengths.tolist(), strict=True)):
        for query in range(2, length):
            found = kinds(ids, query)
            one_hot = np.eye(len(KINDS))[found]  # [key, kind]
            shares[row] += weights[:, row, query, : query + 1].numpy() @ one_hot / (length - 2)
    return {"shares": shares}
