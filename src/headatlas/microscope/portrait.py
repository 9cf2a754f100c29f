"""Portraits of heads, put together from what was measured of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from headatlas.atlas.portraits import Edge, Graph, InTask, Node, Portrait, Weight
from headatlas.atlas.records import Head
from headatlas.microscope import circuit, looks
from headatlas.microscope.examples import Patterns, drawn_texts, shown_examples
from headatlas.microscope.neutral import on_plain_text
from headatlas.microscope.pairs import interactions, partners
from headatlas.microscope.pieces import pieces
from headatlas.microscope.removal import Removal, remove_heads
from headatlas.microscope.view import TaskView, numbers
from headatlas.microscope.writes import NOT_HANDED_OVER, Writing, direct_effects, why_not_direct
from headatlas.run.context import RunContext
from headatlas.run.quantity import Item
from headatlas.stats import Array
from headatlas.suites.example import Example
from headatlas.wording import head_name


@dataclass(frozen=True)
class Seen:
    """All that was measured of a task."""

    view: TaskView
    removal: Removal
    writing: Writing | None
    rows: list[Array] | None
    kinds: list[NDArray[np.int64]]
    drawn: Patterns


def portraits(
    context: RunContext, views: Sequence[TaskView], heads: Sequence[Head], plain: Mapping[str, Sequence[Example]]
) -> tuple[list[Portrait], list[Graph]]:
    """Portraits of heads in the order given, each in the tasks whose views have it; and the graphs of the tasks.

    `plain` are neutral texts of the splits `fit` and `evaluate`.
    """
    reason = why_not_direct(context.model)
    removals = remove_heads(views)
    writings = [None] * len(views) if reason else direct_effects(views)
    rows = looks.rows_of_attention(views)
    texts = [text for view, removal in zip(views, removals, strict=True) for text in drawn_texts(view, removal)]
    drawn = looks.patterns(context, texts)
    by_circuit = circuit.circuits(context, heads)
    neutral = on_plain_text(context, heads, plain["evaluate"], plain["fit"])
    kinds = [[_kinds(view, item) for item in view.quantity.items] for view in views]
    tasks = [Seen(*parts, drawn) for parts in zip(views, removals, writings, rows, kinds, strict=True)]
    return [
        Portrait(
            layer=head[0],
            head=head[1],
            tasks=[in_task(seen, head) for seen in tasks if head in seen.view.heads],
            circuit=by_circuit.get(head),
            neutral=neutral[head],
            unavailable=_unavailable(reason, [seen for seen in tasks if head in seen.view.heads], head in by_circuit),
        )
        for head in heads
    ], [graph(view, removal) for view, removal in zip(views, removals, strict=True)]


def _unavailable(reason: str | None, tasks: Sequence[Seen], has_circuit: bool) -> list[str]:
    """Why something is null, each reason once."""
    if reason is None and any(seen.writing is None for seen in tasks):
        reason = NOT_HANDED_OVER
    no_weights = any(seen.rows is None for seen in tasks)
    too_long = any(seen.rows is not None and not all(row.shape[1] for row in seen.rows) for seen in tasks)
    reasons = (
        reason,
        None if has_circuit else circuit.UNAVAILABLE,
        looks.NO_WEIGHTS if no_weights else None,
        looks.TOO_LONG if too_long else None,
    )
    return [text for text in reasons if text]


def in_task(seen: Seen, head: Head) -> InTask:
    """A head in one task."""
    view, removal, quantity = seen.view, seen.removal, seen.view.quantity
    columns = [removal.intact, removal.effect(head), removal.intact - removal.held[head]]
    if seen.writing is not None:
        columns.append(seen.writing.effects[:, view.heads.index(head)])
    margin, total, held, *direct = numbers(np.stack(columns, 1), quantity.groups)
    specific, q = view.specific.get(head, (None, None))
    related = partners(view, removal, head)
    strongest, weakest = shown_examples(view, head, removal, seen.writing, seen.drawn)
    return InTask(
        task=view.task,
        method=view.method,
        rank=view.ranking.index(head) + 1,
        metric=quantity.metric,
        baseline=quantity.baseline,
        examples=len(quantity.items),
        groups=len(set(quantity.groups)),
        margin=margin,
        total=total,
        held=held,
        direct=direct[0] if direct else None,
        specific=specific,
        specific_q=q,
        looks=_looks(seen, head),
        compared_with=[head_name(*other) for other in view.strongest if other != head],
        backups=[partner for partner in related if partner.interaction.value > 0],
        suppliers=[partner for partner in related if partner.interaction.value < 0 and partner.layer < head[0]],
        strongest=strongest,
        weakest=weakest,
    )


def graph(view: TaskView, removal: Removal) -> Graph:
    """The strongest heads of a task, and all their pairs."""
    totals = numbers(np.stack([removal.effect(head) for head in view.strongest], 1), view.quantity.groups)
    pairs = interactions(view, removal)
    return Graph(
        task=view.task,
        metric=view.quantity.metric,
        baseline=view.quantity.baseline,
        examples=len(view.quantity.items),
        nodes=[
            Node(layer=layer, head=head, total=total)
            for (layer, head), total in zip(view.strongest, totals, strict=True)
        ],
        edges=[
            Edge(first=first, second=second, interaction=pairs[frozenset({first, second})][0],
                 q=pairs[frozenset({first, second})][1])
            for first, second in combinations(view.strongest, 2)
        ],
    )  # fmt: skip


def _looks(seen: Seen, head: Head) -> list[Weight] | None:
    """Shares of attention from where the answer is read, means over examples."""
    if seen.rows is None:
        return None
    number = seen.view.heads.index(head)
    pairs = zip(seen.rows, seen.kinds, strict=True)
    found = [looks.shares(row[number], kinds) for row, kinds in pairs if row.shape[1]]
    return looks.listed(np.mean(found, axis=0)) if found else None


def _kinds(view: TaskView, item: Item) -> NDArray[np.int64]:
    """The kinds of the tokens of a prompt."""
    tokenizer, prompt = view.quantity.context.model.tokenizer, looks.prompt_of(item)
    texts = pieces(tokenizer, prompt)
    answer, *others = [pieces(tokenizer, option.tokens)[len(prompt) :] for option in item.options]
    foil = {i for other in others for i in looks.find_text(texts, other)}
    marks = looks.Marks(looks.find_text(texts, answer), foil, looks.changed_tokens(item)[0])
    return looks.kinds(prompt, len(prompt) - 1, marks)
