"""Examples as they are shown: those that a head decides most and least, with their twins and what it did there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headatlas.atlas.portraits import Shown, Weight, pack
from headatlas.atlas.records import Head
from headatlas.microscope.looks import Text, Tokens, changed_tokens, prompt_of
from headatlas.microscope.pieces import BROKEN, pieces, word
from headatlas.microscope.removal import Removal
from headatlas.microscope.view import TaskView, short
from headatlas.microscope.writes import Writing
from headatlas.run.quantity import Item
from headatlas.stats import Array

STRONGEST, WEAKEST = 4, 3
WORDS = 5  # promoted, and as many suppressed
DRAWN = 2  # of the strongest, with all their attention
DRAWN_TOKENS = 128  # at most, so that files stay small

Patterns = Mapping[tuple[Tokens, Head], Array]


def extremes(effects: Array) -> tuple[list[int], list[int]]:
    """Numbers of the examples with the largest effects, largest first, and of those with the smallest, smallest first;
    none is in both."""
    order = np.argsort(-effects, kind="stable").tolist()
    strongest = order[:STRONGEST]
    return strongest, [i for i in reversed(order) if i not in strongest][:WEAKEST]


def drawn_texts(view: TaskView, removal: Removal) -> list[Text]:
    """The texts on which the attention of each head is drawn."""
    texts: list[Text] = []
    for head in view.heads:
        for i in extremes(removal.effect(head))[0][:DRAWN]:
            item = view.quantity.items[i]
            texts += [(text, (head,)) for text in (prompt_of(item), item.twin) if 0 < len(text) <= DRAWN_TOKENS]
    return texts


def shown_examples(
    view: TaskView, head: Head, removal: Removal, writing: Writing | None, drawn: Patterns
) -> tuple[list[Shown], list[Shown]]:
    """The strongest examples of a head, and the weakest."""
    strongest, weakest = extremes(removal.effect(head))
    return (
        [_shown(view, head, i, removal, writing, drawn if rank < DRAWN else {}) for rank, i in enumerate(strongest)],
        [_shown(view, head, i, removal, writing, {}) for i in weakest],
    )


def _shown(view: TaskView, head: Head, i: int, removal: Removal, writing: Writing | None, drawn: Patterns) -> Shown:
    item, tokenizer = view.quantity.items[i], view.quantity.context.model.tokenizer
    prompt = prompt_of(item)
    changed, twin_changed = changed_tokens(item)
    number = view.heads.index(head)
    lists: list[list[Weight]] = [[], []]
    if writing is not None:
        lists = [
            _weights(tokenizer, writing.tokens[i, number], writing.raised[i, number]),
            _weights(tokenizer, writing.suppressed[i, number], writing.lowered[i, number]),
        ]
    return Shown(
        id=item.example.id,
        prompt=pieces(tokenizer, prompt),
        answer=item.example.answer,
        foil=foil_of(view, item),
        changed=changed,
        twin=pieces(tokenizer, item.twin) if item.twin else None,
        twin_changed=twin_changed,
        margin=short(float(removal.intact[i])),
        without=short(float(removal.without[frozenset({head})][i])),
        attention=_packed(drawn, prompt, head),
        twin_attention=_packed(drawn, item.twin, head),
        promoted=lists[0],
        suppressed=lists[1],
    )


def foil_of(view: TaskView, item: Item) -> str | None:
    """What the answer is compared with, as text: the twin's answer, or all distractors."""
    if view.quantity.metric != "margin":
        return None
    if item.twin:
        start = item.options[1].start
        return "".join(pieces(view.quantity.context.model.tokenizer, item.options[1].tokens)[start:])
    return " or".join(item.example.distractors)


def _weights(tokenizer: Any, tokens: NDArray[np.int64], values: Sequence[float]) -> list[Weight]:
    listed = ((word(tokenizer, int(token)), float(value)) for token, value in zip(tokens, values, strict=True))
    return [Weight(text=text, value=short(value)) for text, value in listed if BROKEN not in text][:WORDS]


def _packed(drawn: Patterns, text: Tokens, head: Head) -> str | None:
    weights = drawn.get((text, head))
    return None if weights is None else pack(weights)
