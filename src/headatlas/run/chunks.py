"""Which examples share a batch, where the beginning of each is run once and the rest of it again and again.

A batch begins where its shortest beginning ends and is as wide as its longest text, so unlike examples make each other
longer; another batch costs its forwards. Examples are put in an order in which neighbours are alike (two such orders
are tried), and the cuts that cost least are found by going through each order once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

ALIKE = (1, 5)  # of the orders: beginnings are compared in steps of so many tokens, texts within a step by length


@dataclass(frozen=True)
class Sizes:
    """Of every example: its rows, the positions of a row, and how many of them at the beginning are run only once."""

    rows: Sequence[int]
    widths: Sequence[int]
    starts: Sequence[int]


def cheapest_chunks(sizes: Sizes, tokens: int, overhead: float, beginning: float) -> list[list[int]]:
    """Numbers of the examples of each batch, of at most `tokens` after its beginning (or one example).

    In tokens after the beginning: a token of the beginning costs `beginning`, and a batch costs `overhead` besides its
    tokens.
    """
    cuts = []
    for alike in ALIKE:
        order = sorted(
            range(len(sizes.rows)), key=lambda i: (sizes.starts[i] // alike, sizes.widths[i], sizes.starts[i], i)
        )
        cuts.append(_cheapest_cuts(order, sizes, tokens, overhead, beginning))
    return min(cuts, key=lambda cut: cut[0])[1]


def _cheapest_cuts(
    order: Sequence[int], sizes: Sizes, tokens: int, overhead: float, beginning: float
) -> tuple[float, list[list[int]]]:
    """The cost, and the chunks of neighbours in the order."""
    costs, cuts = [0.0], [0]  # of the first examples: the least that they cost, and where their last chunk begins
    for end in range(1, len(order) + 1):
        rows, width, start, best = 0, 0, math.inf, (math.inf, 0)
        for first in range(end - 1, -1, -1):
            example = order[first]
            rows, width = rows + sizes.rows[example], max(width, sizes.widths[example])
            start = min(start, sizes.starts[example])
            rest = rows * (width - start)
            if rest > tokens and first < end - 1:
                break
            best = min(best, (costs[first] + rest + beginning * rows * start + overhead, first))
        costs.append(best[0])
        cuts.append(best[1])
    chunks, end = [], len(order)
    while end:
        chunks.append([*order[cuts[end] : end]])
        end = cuts[end]
    return costs[-1], chunks[::-1]
