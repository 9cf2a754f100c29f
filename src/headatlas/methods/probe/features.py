"""What every head writes where an answer is predicted: one feature [layer, head, head_dim] for each example.

z is read at the positions that predict answer tokens and averaged while the model runs; nothing that grows with the
positions of the data set is ever kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from headatlas.methods.probe.reading import Reading
from headatlas.model.heads import Edit
from headatlas.run.batches import Batch, make_batches
from headatlas.run.cells import Cell, CellKind, Result
from headatlas.run.context import RunContext
from headatlas.run.encoding import Option
from headatlas.run.interventions import where_scored
from headatlas.stats import Array

FEATURES = CellKind("features")
WITHOUT_QUESTION = "Answer:"  # replaces the prompt where the dependence on the question is measured


def collect(context: RunContext, split: str, reading: Reading, tasks: Sequence[str] | None = None) -> dict[str, Array]:
    """Per task, in the order of its examples: features [example, layer * head * head_dim] in float32."""
    cells = feature_cells(context, split, reading, tasks)
    return context.run_by_batch(title(split), split, cells, "features")


def title(split: str) -> str:
    return f"Features on {split}"


def feature_cells(
    context: RunContext, split: str, reading: Reading, tasks: Sequence[str] | None = None
) -> dict[str, list[Cell]]:
    """The cells of `collect`, by task."""
    return {
        task: [_cell(context, task, split, batch, reading) for batch in context.batches(task, split)]
        for task in (context.tasks if tasks is None else tasks)
    }


def _cell(context: RunContext, task: str, split: str, batch: Batch, reading: Reading) -> Cell:
    longest = int(torch.bincount(batch.slots).max())
    by_information = reading.tokens == "important" and longest > reading.k
    # Where every answer has at most k tokens all of them are important, and no second prompt is needed.
    free = _without_question(context, task, split, batch) if by_information else None
    return context.cell(
        FEATURES,
        lambda: read_batch(context, batch, reading, free),
        batch.ids.numel() + (free.ids.numel() if free else 0),
        forwards=2 if free else 1,
        batch=batch.key,
        tokens="all" if reading.tokens == "important" and free is None else reading.tokens,
        **({"k": reading.k, "without_question": free.key} if free else {}),
    )


def _without_question(context: RunContext, task: str, split: str, batch: Batch) -> Batch:
    """The same answer tokens after a prompt that asks nothing; one batch, its rows in the order of `batch`."""
    start = context.encoder.ids(WITHOUT_QUESTION)
    examples = context.examples(task, split)
    options = []
    for member in batch.members:
        option = context.encoder.encode(examples[member])[0]
        options.append([Option((*start, *option.tokens[option.start :]), len(start))])
    (single,) = make_batches(options, tokens=batch.ids.numel() + len(options) * len(start) * 64)
    return single


@torch.inference_mode()
def read_batch(context: RunContext, batch: Batch, reading: Reading, free: Batch | None) -> Result:
    """Features [example, layer * head * head_dim] of a batch that holds one answer per row."""
    model = context.model
    if reading.tokens == "mean":
        rows, positions = batch.real.nonzero(as_tuple=True)
        owners = rows
    else:
        rows, positions, owners = batch.rows, batch.positions, batch.slots
    # Read at the positions of this batch only, a layer at a time; weighed once the tokens are known.
    scored = model.only_logits(batch.rows, batch.positions)
    with where_scored(model), scored, model.capture(reduce=_at(rows, positions)) as z:
        logits = model.logits(batch.ids)
    if reading.tokens == "mean":
        weights = 1 / batch.lengths[rows]
    else:
        weights = _weights(batch, reading, None if free is None else _information(context, batch, logits, free))
    sums = torch.zeros(batch.size, model.n_layers, model.n_heads, model.head_dim)
    for layer, read in z.items():
        sums[:, layer].index_add_(0, owners, read.float().cpu() * weights[:, None, None].float())
    return {"features": sums.flatten(1).numpy()}


def _at(rows: Tensor, positions: Tensor) -> Edit:
    return lambda _, z: z[rows.to(z.device), positions.to(z.device)]


def _information(context: RunContext, batch: Batch, logits: Tensor, free: Batch) -> Tensor:
    """How much each answer token depends on the question, in nats: log p(token | question) - log p(token | none)."""
    with where_scored(context.model), context.model.only_logits(free.rows, free.positions):
        without = context.model.logits(free.ids)
    return _logprobs(logits, batch.targets) - _logprobs(without, free.targets)[_aligned(batch, free)]


def _logprobs(logits: Tensor, targets: Tensor) -> Tensor:
    return logits.float().log_softmax(-1).gather(-1, targets.to(logits.device)[:, None]).squeeze(-1).cpu()


def _aligned(batch: Batch, free: Batch) -> Tensor:
    """For every target of `batch`, the index of the same answer token among the targets of `free`."""
    index = {(free.members[slot], i): t for t, (slot, i) in enumerate(_numbered(free.slots))}
    return torch.tensor([index[slot, i] for slot, i in _numbered(batch.slots)])


def _numbered(slots: Tensor) -> Sequence[tuple[int, int]]:
    """(slot, number of the token within it) of every target."""
    counts: dict[int, int] = {}
    numbered = []
    for slot in slots.tolist():
        counts[slot] = counts.get(slot, -1) + 1
        numbered.append((slot, counts[slot]))
    return numbered


def _weights(batch: Batch, reading: Reading, information: Tensor | None) -> Tensor:
    """The weight of every target: those chosen within an answer share 1 evenly."""
    weights = np.zeros(len(batch.slots))
    for slot in range(batch.size):
        chosen = np.flatnonzero(batch.slots.numpy() == slot)
        if reading.tokens == "first":
            chosen = chosen[:1]
        elif reading.tokens == "last":
            chosen = chosen[-1:]
        elif information is not None:
            order = np.argsort(-information.numpy()[chosen], kind="stable")
            chosen = chosen[order[: reading.k]]
        weights[chosen] = 1 / len(chosen)
    return torch.from_numpy(weights)
