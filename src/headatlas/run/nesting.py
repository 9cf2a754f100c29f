"""Options of which one begins another, in tokens: the shorter one is then at least as likely, whatever the model does.

The log-probability of a text is that of all that begins with it: p(" 5") holds p(" 57"). So a margin between two such
texts means nothing, and in a forced choice the shorter one would always win. There it counts without the options that
go on from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from headatlas.stats import Array

if TYPE_CHECKING:
    from headatlas.run.batches import Batch
    from headatlas.run.encoding import Option

Text = Sequence[int]  # token ids of an option, without its prompt


def are_nested(options: Sequence[Option]) -> bool:
    """Whether one of the options of a prompt begins another."""
    return any(continuations([option.tokens for option in options]))


def continuations(texts: Sequence[Text]) -> list[list[int]]:
    """For every text the indices of those that go on from it, without those that go on from one of these. Of equal
    texts the first one counts.

    >>> continuations([(5,), (5, 7), (5, 7, 8), (5, 9), (6,), (5, 7)])
    [[1, 3], [2], [], [], [], [2]]
    """
    first = {tuple(text): i for i, text in reversed(list(enumerate(texts)))}.values()
    longer = [[j for j in sorted(first) if _begins(text, texts[j])] for text in texts]
    return [[j for j in indices if not any(_begins(texts[i], texts[j]) for i in indices)] for indices in longer]


def _begins(text: Text, other: Text) -> bool:
    return len(text) < len(other) and tuple(other[: len(text)]) == tuple(text)


def option_texts(batch: Batch) -> dict[int, list[Text]]:
    """By member of the batch, the scored tokens of its options, in order."""
    tokens: list[list[int]] = [[] for _ in range(len(batch.owners))]
    for slot, target in zip(batch.slots.tolist(), batch.targets.tolist(), strict=True):
        tokens[slot].append(target)
    texts: dict[int, list[Text]] = {member: [] for member in batch.members}
    for slot, owner in enumerate(batch.owners.tolist()):
        texts[batch.members[owner]].append(tokens[slot])
    return texts


def without_continuations(options: Array, texts: Sequence[Text]) -> Array:
    """Log-probabilities [..., option], each without the options that go on from it: log(p - p of those).

    Minus infinity where the model is sure to go on. Options of which none begins another stay as they are.
    """
    following = continuations(texts)
    if not any(following):
        return options
    alone = np.array(options, dtype=np.float64)
    for i, indices in enumerate(following):
        if indices:
            # log(1 - exp(d)) for d <= 0; rounding must not lift d above it.
            d = np.minimum(np.logaddexp.reduce(options[..., indices], axis=-1) - options[..., i], 0.0)
            with np.errstate(divide="ignore"):
                alone[..., i] = options[..., i] + np.log(-np.expm1(d))
    return alone
