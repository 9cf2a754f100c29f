"""What every head writes where an answer is predicted: one feature [layer, head, head_dim] for each example.

z is read at the positions that predict answer tokens and averaged while the model runs; nothing that grows with the
positions of the data set is ever kept. It is read in the batches in which competence scores all options, so that one
forward can do both; only the rows of the answers count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from headatlas.methods.probe.reading import Reading
from headatlas.model.heads import Edit
from headatlas.run.batches import Batch, make_batches
from headatlas.run.cells import Cell, CellKind, Result
from headatlas.run.context import RunContext
from headatlas.run.encoding import Option
from headatlas.run.intact import Reader, reader_cell
from headatlas.run.interventions import where_scored
from headatlas.stats import Array

FEATURES = CellKind("features", 2)
WITHOUT_QUESTION = "Answer:"  # replaces the prompt where the dependence on the question is measured


def collect(context: RunContext, split: str, reading: Reading, tasks: Sequence[str] | None = None) -> dict[str, Array]:
    """Per task, in the order of its examples: features [example, layer * head * head_dim] in float32."""
    cells = feature_cells(context, split, reading, tasks)
    return context.run_by_batch(title(split), split, cells, "features", intact=True)


def title(split: str) -> str:
    return f"Features on {split}"


def feature_cells(
    context: RunContext, split: str, reading: Reading, tasks: Sequence[str] | None = None
) -> dict[str, list[Cell]]:
    """The cells of `collect`, by task."""
    return {
        task: [
            reader_cell(context, batch, feature_reader(context, batch, reading))
            for batch in context.intact_batches(task, split)
        ]
        for task in (context.tasks if tasks is None else tasks)
    }


def feature_reader(context: RunContext, batch: Batch, reading: Reading) -> Reader:
    """Reads `features` [example, layer * head * head_dim] of a batch."""
    model, answers = context.model, AnswerTokens.of(batch)
    by_information = reading.tokens == "important" and int(torch.bincount(answers.members).max()) > reading.k
    # Where every answer has at most k tokens all of them are important, and no second prompt is needed.
    free = _without_question(context, answers) if by_information else None
    whole = reading.tokens == "mean"
    rows, positions, members = _fed(answers) if whole else (answers.rows, answers.positions, answers.members)

    def finish(z: Mapping[int, Tensor], logits: Tensor) -> Result:
        information = None if free is None else _information(context, answers, logits, free)
        weights = _shares(members) if whole else _weights(answers, reading, information)
        sums = torch.zeros(len(batch.members), model.n_layers, model.n_heads, model.head_dim)
        for layer, read in z.items():
            sums[:, layer].index_add_(0, members, read.float().cpu() * weights[:, None, None].float())
        return {"features": sums.flatten(1).numpy()}

    return Reader(
        FEATURES,
        _at(rows, positions),
        finish,
        {
            "tokens": "all" if reading.tokens == "important" and free is None else reading.tokens,
            **({"k": reading.k, "without_question": free.key} if free else {}),
        },
        tokens=free.ids.numel() if free else 0,
        forwards=1 if free else 0,
        bytes=4 * len(batch.members) * len(context.heads) * model.head_dim,
    )


class AnswerTokens(NamedTuple):
    """The tokens of the answers in a batch, all [token]: ids, the row and the position at which each is predicted, the
    place of its logits, and the entry of `members` whose answer it belongs to."""

    ids: Tensor
    rows: Tensor
    positions: Tensor
    places: Tensor
    members: Tensor

    @classmethod
    def of(cls, batch: Batch) -> AnswerTokens:
        chosen = torch.isin(batch.slots, batch.answers).nonzero().flatten()
        parts = (batch.targets, batch.rows, batch.positions, batch.places[1], batch.owners[batch.slots])
        return cls(*(part[chosen] for part in parts))


def _fed(answers: AnswerTokens) -> tuple[Tensor, Tensor, Tensor]:
    """Row, position and member of all that comes before the last token of each answer: prompt and answer."""
    last = torch.cat([answers.members.diff() > 0, torch.tensor([True])])
    lengths = answers.positions[last] + 1
    positions = torch.cat([torch.arange(length) for length in lengths.tolist()])
    return answers.rows[last].repeat_interleave(lengths), positions, answers.members[last].repeat_interleave(lengths)


def _shares(members: Tensor) -> Tensor:
    """The weight of every position where all of a member's count alike."""
    return 1 / torch.bincount(members)[members]


def _without_question(context: RunContext, answers: AnswerTokens) -> Batch:
    """The same answer tokens after a prompt that asks nothing; one batch, whose members are those of `answers`."""
    start = context.encoder.ids(WITHOUT_QUESTION)
    tokens: list[list[int]] = [[] for _ in range(int(answers.members[-1]) + 1)]
    for member, token in zip(answers.members.tolist(), answers.ids.tolist(), strict=True):
        tokens[member].append(token)
    options = [[Option((*start, *of_member), len(start))] for of_member in tokens]
    width = max(len(option.tokens) for (option,) in options)
    (single,) = make_batches(options, tokens=width * len(options))
    return single


def _at(rows: Tensor, positions: Tensor) -> Edit:
    return lambda _, z: z[rows.to(z.device), positions.to(z.device)]


def _information(context: RunContext, answers: AnswerTokens, logits: Tensor, free: Batch) -> Tensor:
    """How much each answer token depends on the question, in nats: log p(token | question) - log p(token | none)."""
    with where_scored(context.model), context.model.only_logits(free.rows, free.positions):
        without = context.model.logits(free.ids)
    with_question = _logprobs(logits[answers.places.to(logits.device)], answers.ids)
    return with_question - _logprobs(without, free.targets)[_aligned(answers.members, free)]


def _logprobs(logits: Tensor, targets: Tensor) -> Tensor:
    return logits.float().log_softmax(-1).gather(-1, targets.to(logits.device)[:, None]).squeeze(-1).cpu()


def _aligned(members: Tensor, free: Batch) -> Tensor:
    """For every answer token, by its member, the index of the same one among the targets of `free`."""
    index = {(free.members[slot], i): t for t, (slot, i) in enumerate(_numbered(free.slots))}
    return torch.tensor([index[member, i] for member, i in _numbered(members)])


def _numbered(owners: Tensor) -> Sequence[tuple[int, int]]:
    """(owner, number of the token within its answer) of every token."""
    counts: dict[int, int] = {}
    numbered = []
    for owner in owners.tolist():
        counts[owner] = counts.get(owner, -1) + 1
        numbered.append((owner, counts[owner]))
    return numbered


def _weights(answers: AnswerTokens, reading: Reading, information: Tensor | None) -> Tensor:
    """The weight of every answer token: those chosen within an answer share 1 evenly."""
    members = answers.members.numpy()
    weights = np.zeros(len(members))
    for member in np.unique(members):
        chosen = np.flatnonzero(members == member)
        if reading.tokens == "first":
            chosen = chosen[:1]
        elif reading.tokens == "last":
            chosen = chosen[-1:]
        elif information is not None:
            order = np.argsort(-information.numpy()[chosen], kind="stable")
            chosen = chosen[order[: reading.k]]
        weights[chosen] = 1 / len(chosen)
    return torch.from_numpy(weights)
