"""What every head looks at. It describes a head; it does not say what the head is for.

On the beginnings of the suite's own texts: the share of attention that goes to the `first` token, to the `previous` one
and to the `current` one. On random tokens that come twice in the same order: the share that goes to the `same` token,
and to the one `after_same`, which is what an induction head looks at.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from headatlas.run.cells import Cell, Result
from headatlas.run.context import Diagnostic, Work

LOOKS = ("first", "previous", "current", "same", "after_same")
TEXTS = 4  # of every task
WINDOW = 64  # tokens of a text, and of a repeated sequence
REPEATED = 4  # sequences


def attention(work: Work) -> list[Diagnostic]:
    """One number a head for each of LOOKS, `place` = layer * heads + head; none where a model does not tell."""
    texts = [_beginning(work, task, i) for task in work.tasks for i in range(TEXTS)]
    rows = [row for row in texts if row is not None]
    cells = [_cell(work, row, None) for row in rows]
    cells += [_cell(work, row, gap) for row, gap in _repeated(rows, work.model.context)]
    results = work.runner.run("Attention", cells)
    found = []
    for look in LOOKS:
        values = [result[look] for result in results if look in result]
        if values:
            mean = np.mean(values, axis=0)
            found += [Diagnostic("attention", look, float(value), place=i) for i, value in enumerate(mean.ravel())]
    return found


def _beginning(work: Work, task: str, i: int) -> tuple[int, ...] | None:
    """The first tokens of an example; none where there are too few to tell its looks apart."""
    examples = work.examples(task, "fit")
    tokens = work.encoder.encode(examples[i])[0].tokens[:WINDOW] if i < len(examples) else ()
    return tokens if len(tokens) > 3 else None


def _repeated(rows: list[tuple[int, ...]], context: int) -> list[tuple[tuple[int, ...], int]]:
    """Sequences of distinct tokens of the texts, twice in a row, and after how many tokens they come again."""
    begins = {row[0] for row in rows}
    begin = tuple(begins) if len(begins) == 1 else ()  # a token that all texts open with
    tokens = sorted({token for row in rows for token in row} - set(begin))
    length = min(WINDOW // 2, len(tokens), (context - len(begin)) // 2)
    rng = np.random.default_rng(20_605)
    drawn = [tuple(rng.choice(tokens, length, replace=False).tolist()) for _ in range(REPEATED if length > 3 else 0)]
    return [((*begin, *half, *half), length) for half in drawn]


def _cell(work: Work, row: tuple[int, ...], gap: int | None) -> Cell:
    inputs = work.inputs("attention", tokens=list(row), gap=gap)
    return Cell(inputs, lambda: _look(work, row, gap), len(row))


@torch.inference_mode()
def _look(work: Work, row: tuple[int, ...], gap: int | None) -> Result:
    weights = work.model.attention(torch.tensor([row]))
    if weights is None or not all(bool(torch.isfinite(layer).all()) for layer in weights):
        return {"untold": np.zeros(1)}
    looks = [_repeats(layer[0], gap) if gap else _places(layer[0]) for layer in weights]
    return {name: torch.stack([look[name] for look in looks]).float().cpu().numpy() for name in looks[0]}


def _places(weights: Tensor) -> dict[str, Tensor]:
    """From weights [head, query, key], from the third token on: before it, places coincide."""
    return {
        "first": weights[:, 2:, 0].mean(-1),
        "previous": weights.diagonal(-1, 1, 2)[:, 1:].mean(-1),
        "current": weights.diagonal(0, 1, 2)[:, 2:].mean(-1),
    }


def _repeats(weights: Tensor, gap: int) -> dict[str, Tensor]:
    """From weights [head, query, key] of a sequence that comes again after `gap` tokens: of the second time.

    A copy in the very first place does not count: much attention rests there whatever stands there.
    """
    begin = weights.shape[1] - 2 * gap
    return {
        "same": weights.diagonal(-gap, 1, 2)[:, max(begin, 1) :].mean(-1),
        "after_same": weights.diagonal(1 - gap, 1, 2)[:, begin + 1 :].mean(-1),
    }
