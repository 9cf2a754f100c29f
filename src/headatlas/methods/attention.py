"""Where every head looks. It describes a head; it does not say what the head is for.

On the beginnings of the suite's texts: the share of attention that goes to the `first` token, to the `previous` one
and to the `current` one. On random tokens that come twice in the same order: the share that goes to the `same` token,
and to the one `after_same`, which is where an induction head looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from headatlas.atlas.declarations import Measure, MethodInfo
from headatlas.atlas.records import Diagnostic
from headatlas.methods.base import Measured, Method
from headatlas.run.cells import CellKind

if TYPE_CHECKING:
    from torch import Tensor

    from headatlas.run.cells import Cell, Result
    from headatlas.run.context import RunContext
    from headatlas.run.work import Step

ATTENTION = CellKind("attention")
TARGETS = {
    "first": "the first token",
    "previous": "the token before",
    "current": "the token itself",
    "same": "the same token earlier, in a repeated sequence",
    "after_same": "the token after the same one earlier (induction)",
}
SEQUENCES = 4  # texts per task, and repeated sequences
WINDOW = 64  # tokens of a text, and of a repeated sequence
FEWEST_TOKENS = 4  # with fewer, the targets coincide


@dataclass(frozen=True)
class Attention(Method):
    """The share of attention that goes to each of TARGETS, per head; none where a model does not return it."""

    info: ClassVar[MethodInfo] = MethodInfo(
        name="attention",
        title="Attention",
        summary="describes where each head looks: first, previous, current or repeated tokens",
        meaning="The share of a head's attention that goes to a kind of token. A description, not an effect.",
        kind="description",
        measures=tuple(
            Measure(name=name, meaning=f"the head looks at {target}", unit="share", zero_to_one=True)
            for name, target in TARGETS.items()
        ),
        primary="first",
        turn=1,
    )

    def work(self, context: RunContext) -> list[Step]:
        from headatlas.model.memory import Load
        from headatlas.run.work import Step

        # The weights of all layers are held at once.
        weights = 4 * len(context.heads) * WINDOW**2
        return [Step(self.info.title, _cells(context), loads=[Load(WINDOW)], beside=weights)]

    def measure(self, context: RunContext) -> Measured:
        results = context.runner.run(self.info.title, _cells(context))
        diagnostics = []
        for target in TARGETS:
            shares = [result[target] for result in results if target in result]
            if shares:
                mean = np.mean(shares, axis=0)
                diagnostics += [
                    Diagnostic(self.info.name, target, float(mean[head]), layer=head[0], head=head[1])
                    for head in context.heads
                ]
        return Measured(diagnostics=diagnostics)


def _cells(context: RunContext) -> list[Cell]:
    texts = [_beginning(context, task, i) for task in context.tasks for i in range(SEQUENCES)]
    rows = [row for row in texts if row is not None]
    cells = [_cell(context, row, None) for row in rows]
    return cells + [_cell(context, row, gap) for row, gap in _repeated(rows, context.model.context)]


def _beginning(context: RunContext, task: str, i: int) -> tuple[int, ...] | None:
    """The first tokens of an example; None where there are too few."""
    examples = context.examples(task, "fit")
    tokens = context.encoder.encode(examples[i])[0].tokens[:WINDOW] if i < len(examples) else ()
    return tokens if len(tokens) >= FEWEST_TOKENS else None


def _repeated(rows: list[tuple[int, ...]], context: int) -> list[tuple[tuple[int, ...], int]]:
    """Sequences of distinct tokens of the texts, twice in a row, and after how many tokens they come again."""
    first_tokens = {row[0] for row in rows}
    begin = tuple(first_tokens) if len(first_tokens) == 1 else ()  # a token that all texts open with
    tokens = sorted({token for row in rows for token in row} - set(begin))
    length = min(WINDOW // 2, len(tokens), (context - len(begin)) // 2)
    rng = np.random.default_rng(20_605)
    count = SEQUENCES if length >= FEWEST_TOKENS else 0
    halves = [tuple(rng.choice(tokens, length, replace=False).tolist()) for _ in range(count)]
    return [((*begin, *half, *half), length) for half in halves]


def _cell(context: RunContext, row: tuple[int, ...], gap: int | None) -> Cell:
    return context.cell(ATTENTION, lambda: _shares(context, row, gap), len(row), tokens=list(row), gap=gap)


def _shares(context: RunContext, row: tuple[int, ...], gap: int | None) -> Result:
    """The share of each target [layer, head]; `unavailable` alone where the model returns no finite weights."""
    import torch

    nowhere = torch.tensor([0])  # logits are not read
    with torch.inference_mode(), context.model.only_logits(nowhere, nowhere):
        weights = context.model.attention(torch.tensor([row]))
        if weights is None or not all(bool(torch.isfinite(layer).all()) for layer in weights):
            return {"unavailable": np.zeros(1)}
        shares = [_on_repeats(layer[0], gap) if gap else _by_position(layer[0]) for layer in weights]
        return {name: torch.stack([layer[name] for layer in shares]).float().cpu().numpy() for name in shares[0]}


def _by_position(weights: Tensor) -> dict[str, Tensor]:
    """From weights [head, query, key], from the third token on: before it, positions coincide."""
    return {
        "first": weights[:, 2:, 0].mean(-1),
        "previous": weights.diagonal(-1, 1, 2)[:, 1:].mean(-1),
        "current": weights.diagonal(0, 1, 2)[:, 2:].mean(-1),
    }


def _on_repeats(weights: Tensor, gap: int) -> dict[str, Tensor]:
    """From weights [head, query, key] of a sequence that comes again after `gap` tokens: those of its second time.

    A copy at the very first position does not count: much attention rests there whatever the token is.
    """
    begin = weights.shape[1] - 2 * gap
    return {
        "same": weights.diagonal(-gap, 1, 2)[:, max(begin, 1) :].mean(-1),
        "after_same": weights.diagonal(1 - gap, 1, 2)[:, begin + 1 :].mean(-1),
    }
