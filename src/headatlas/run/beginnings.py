"""Examples that begin alike (a chat template, worked examples, a passage): which, and how far.

Under an intervention that treats all rows alike, what it does to the common beginning is the same in every row, so one
row of it is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from headatlas.run.batches import Batch
from headatlas.run.encoding import common_prefix

WORTHWHILE = 64  # tokens that must be saved for each intervention: about what two more forwards cost (`OVERHEAD`)
SPLIT_GAIN = 1.2  # by so much more must be saved in parts, which fill fewer batches


def common_beginning(batch: Batch) -> int:
    """Positions at the beginning of a batch that are the same in all rows and before everything that is scored; 0 where
    there are too few for sharing them to pay."""
    same = (batch.ids == batch.ids[:1]).all(0)
    first_scored = int(batch.positions.min())
    length = min(int(same.long().cumprod(0).sum()), first_scored)
    return length if length * (batch.size - 1) >= WORTHWHILE else 0


def by_beginning(texts: Sequence[Sequence[int]]) -> list[tuple[list[int], int]]:
    """Numbers of texts that begin alike, with the length of their common beginning; last those that share nothing."""
    order = sorted(range(len(texts)), key=lambda i: (tuple(texts[i]), i))
    shared = [common_prefix(texts[a], texts[b]) for a, b in pairwise(order)]
    alike = [(sorted(order[first:end]), length) for first, end, length in _clusters(shared, 0, len(order))]
    alone = sorted({*range(len(texts))} - {i for members, _ in alike for i in members})
    return [*alike, (alone, 0)] if alone else alike


def _clusters(shared: Sequence[int], first: int, end: int) -> list[tuple[int, int, int]]:
    """(first, end, common length) of sorted texts, from what each shares with the next: all of them as one, or parts
    that begin alike for longer, whichever saves more tokens."""
    if end - first < 2:
        return []
    length = min(shared[first : end - 1])
    cuts = [i + 1 for i in range(first, end - 1) if shared[i] == length]
    parts = [part for a, b in pairwise([first, *cuts, end]) for part in _clusters(shared, a, b)]
    whole = length * (end - first - 1)
    if sum(_saved(*part) for part in parts) > SPLIT_GAIN * whole:
        return parts
    return [(first, end, length)] if whole >= WORTHWHILE else []


def _saved(first: int, end: int, length: int) -> int:
    return length * (end - first - 1)
