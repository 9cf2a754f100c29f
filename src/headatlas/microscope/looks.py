"""Where a head looks from where the answer is read, by kind of token; and whole patterns of attention."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from headatlas.atlas.portraits import Weight
from headatlas.atlas.records import Head
from headatlas.microscope.view import TaskView, short
from headatlas.run.alignment import NONE
from headatlas.run.batches import Batch, make_batches
from headatlas.run.cells import Cell, CellKind, Result
from headatlas.run.context import RunContext
from headatlas.run.encoding import Option
from headatlas.run.quantity import Item
from headatlas.stats import Array

ROWS, PATTERNS = CellKind("attention from where answers are read"), CellKind("patterns of attention")
TITLE = "Attention"
LONGEST = 512  # tokens of a prompt; attention of every head of a longer one takes too much memory
# Every token is of one kind: the first that fits.
FIRST, ITSELF, ANSWER, FOIL, CHANGED, AFTER_COPY, BEFORE, ELSEWHERE = range(8)
KINDS = (
    "the first token",
    "the token itself",
    "the answer, earlier in the prompt",
    "the foil, earlier in the prompt",
    "the words that differ in the twin",
    "the token after an earlier copy of the one it reads from",
    "the token before",
    "elsewhere",
)
NO_WEIGHTS = "This model does not return its attention weights, so where its heads look is not known."
TOO_LONG = f"Attention is left out of prompts with more than {LONGEST} tokens."

Tokens = tuple[int, ...]
Text = tuple[Tokens, tuple[Head, ...]]  # a text, and heads whose attention on it is wanted


@dataclass(frozen=True)
class Marks:
    """Positions of a prompt that an example is about."""

    answer: Collection[int] = ()
    foil: Collection[int] = ()
    changed: Collection[int] = ()


UNMARKED = Marks()


def kinds(tokens: Sequence[int], query: int, marks: Marks = UNMARKED) -> NDArray[np.int64]:
    """The kind of every token [query + 1] that a position can look at."""
    found = np.full(query + 1, ELSEWHERE)
    if query:
        found[query - 1] = BEFORE
    copies = [i + 1 for i in range(query) if tokens[i] == tokens[query]]
    for positions, kind in ((copies, AFTER_COPY), (marks.changed, CHANGED), (marks.foil, FOIL), (marks.answer, ANSWER)):
        found[[i for i in positions if i <= query]] = kind
    found[query] = ITSELF
    found[0] = FIRST
    return found


def shares(weights: Array, found: NDArray[np.int64]) -> Array:
    """The weight [kind] that goes to the tokens of each kind, from weights [key]."""
    total = np.zeros(len(KINDS))
    np.add.at(total, found, weights[: len(found)])
    return total


def listed(by_kind: Array, leave_out: Collection[int] = ()) -> list[Weight]:
    """Shares of attention as they are recorded."""
    return [
        Weight(text=name, value=short(float(by_kind[kind]))) for kind, name in enumerate(KINDS) if kind not in leave_out
    ]


def changed_tokens(item: Item) -> tuple[list[int], list[int]]:
    """The positions in which a prompt and its twin differ: of the prompt, and of the twin."""
    prompt = prompt_of(item)
    pairs = ((i, other) for i, other in enumerate(item.aligned) if other != NONE)
    same = {i: other for i, other in pairs if prompt[i] == item.twin[other]}
    reached = set(same.values())
    here = [i for i in range(len(item.aligned)) if i not in same]
    return here, [i for i in range(len(item.twin)) if i not in reached]


def prompt_of(item: Item) -> Tokens:
    return item.options[0].tokens[: item.options[0].start]


def find_text(prompt: Sequence[str], text: Sequence[str]) -> set[int]:
    """Positions of a prompt, given as pieces, where the pieces of a text stand; blanks do not count."""
    wanted, stripped = [piece.strip() for piece in text], [piece.strip() for piece in prompt]
    if not any(wanted):
        return set()
    starts = range(len(stripped) - len(wanted) + 1)
    return {
        i
        for start in starts
        if stripped[start : start + len(wanted)] == wanted
        for i in range(start, start + len(wanted))
    }


def rows_of_attention(views: Sequence[TaskView]) -> list[list[Array] | None]:
    """Of each task, by example: attention [head, key] from the last token of the prompt; empty for prompts that are too
    long. None where the model returns no weights."""
    parts = []
    for view in views:
        prompts = {i: prompt_of(item) for i, item in enumerate(view.quantity.items)}
        parts.append(batches_of({i: prompt for i, prompt in prompts.items() if len(prompt) <= LONGEST}))
    cells = [[_rows_cell(view, batch) for batch, _ in part] for view, part in zip(views, parts, strict=True)]
    every = [cell for of_task in cells for cell in of_task]
    results = iter(views[0].quantity.context.runner.run(TITLE, every)) if views else iter(())
    rows: list[list[Array] | None] = []
    for view, part in zip(views, parts, strict=True):
        of_task: list[Array] | None = [np.empty((len(view.heads), 0)) for _ in view.quantity.items]
        for batch, numbers in part:
            result = next(results)
            if of_task is None or "unavailable" in result:
                of_task = None
                continue
            for row, member in enumerate(batch.members):
                of_task[numbers[member]] = result["rows"][row][:, : int(batch.lengths[row])]
        rows.append(of_task)
    return rows


def batches_of(texts: Mapping[int, Tokens]) -> list[tuple[Batch, list[int]]]:
    """Batches of whole texts, scored at their last token, each with the numbers of all texts by member."""
    numbers = list(texts)
    # A row is fed without its last token, so one is put behind each text.
    options = [[Option((*texts[i], texts[i][-1]), len(texts[i]))] for i in numbers]
    return [(batch, numbers) for batch in make_batches(options)]


def _rows_cell(view: TaskView, batch: Batch) -> Cell:
    context = view.quantity.context
    heads = [list(head) for head in view.heads]
    return context.cell(
        ROWS, partial(_rows, context, view.heads, batch), batch.ids.numel(), batch=batch.key, heads=heads
    )


def _rows(context: RunContext, heads: Sequence[Head], batch: Batch) -> Result:
    """`rows` [row, head, key] from the last token of every row."""
    weights = attention_of(context, batch.ids, heads)
    if weights is None:
        return {"unavailable": np.zeros(1)}
    return {"rows": weights[:, torch.arange(batch.size), batch.lengths - 1].transpose(0, 1).numpy()}


@torch.inference_mode()
def attention_of(context: RunContext, ids: torch.Tensor, heads: Sequence[Head]) -> torch.Tensor | None:
    """Attention of some heads [head, row, query, key]; None where the model returns no finite weights."""
    weights = context.model.attention(ids)
    if weights is None:
        return None
    chosen = torch.stack([weights[layer][:, head].float().cpu() for layer, head in heads])
    return chosen if bool(torch.isfinite(chosen).all()) else None


def patterns(context: RunContext, texts: Iterable[Text]) -> dict[tuple[Tokens, Head], Array]:
    """Attention [query, key] of heads on texts; empty where the model returns no weights."""
    wanted: dict[Tokens, dict[Head, None]] = {}
    for tokens, heads in texts:
        wanted.setdefault(tokens, {}).update(dict.fromkeys(heads))
    results = context.runner.run(TITLE, [_pattern_cell(context, tokens, [*heads]) for tokens, heads in wanted.items()])
    return {
        (tokens, head): weights
        for (tokens, heads), result in zip(wanted.items(), results, strict=True)
        if "weights" in result
        for head, weights in zip(heads, result["weights"], strict=True)
    }


def _pattern_cell(context: RunContext, tokens: Tokens, heads: Sequence[Head]) -> Cell:
    def compute() -> Result:
        weights = attention_of(context, torch.tensor([tokens]), heads)
        return {"unavailable": np.zeros(1)} if weights is None else {"weights": weights[:, 0].numpy()}

    return context.cell(PATTERNS, compute, len(tokens), tokens=list(tokens), heads=[list(head) for head in heads])
