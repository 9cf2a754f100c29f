"""What forwards of a model can share or leave out, found out by trying: the layers below a change, the positions
before it, the positions of the last layer that nothing reads, and the logits of tokens that nothing reads.

A model of a new architecture may pass state past its layers, or number positions in a way of its own. Then a forward
that starts late would be silently wrong, so each model is asked once whether it gives the same logits. What a few
tokens cannot show is read from its configuration: rotary frequencies that depend on the length of the whole text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from headatlas.model.heads import HeadModel
    from headatlas.model.partial import LayerInputs

ROWS, TOKENS, PREFIX = 2, 7, 3  # of the text it is tried on
TOLERANCE = {torch.float32: 1e-3, torch.float64: 1e-6}  # of the logits' spread; a wrong start differs by about 1
COARSE = 0.1  # in half precision
BY_LENGTH = ("longrope", "dynamic")  # types of rotary positions


@dataclass(frozen=True)
class Sharing:
    """Whether forwards may start at a layer, and at a position, of an earlier one; whether the last layer may be run
    only where its logits are read; and whether logits of single `tokens` can be had without the others."""

    layers: bool
    prefix: bool
    last_layer: bool
    tokens: bool


@torch.inference_mode()
def try_sharing(model: HeadModel) -> Sharing:
    """Compare forwards that start late with whole ones, on a few random tokens.

    Another text runs in between: state that a module remembers from its last forward would else be right by chance.
    """
    vocabulary = model.module.get_input_embeddings().weight.shape[0]
    ids = torch.randint(vocabulary, (ROWS, TOKENS), generator=torch.Generator().manual_seed(0))
    with model.record_inputs() as inputs:
        expected = model.logits(ids)
    starts = sorted({min(1, model.n_layers - 1), model.n_layers // 2, model.n_layers - 1})
    layers = all(_same_from(model, layer, inputs, ids, expected) for layer in starts)
    return Sharing(
        layers,
        layers and not turns_by_length(model) and _same_after_prefix(model, ids, expected, model.n_layers // 2),
        _same_where_scored(model, ids, expected),
        _same_tokens(model, ids, expected),
    )


def turns_by_length(model: HeadModel) -> bool:
    """Whether a long text turns its first positions otherwise than a short one does."""

    def kinds(entries: Any) -> Iterator[Any]:
        if isinstance(entries, Mapping):
            yield from (entries.get("rope_type"), entries.get("type"))
            for value in entries.values():  # one entry for each kind of layer
                yield from kinds(value)

    config = model.module.config.get_text_config()
    stated = (getattr(config, name, None) for name in ("rope_parameters", "rope_scaling"))
    return any(kind in BY_LENGTH for entries in stated for kind in kinds(entries))


def _same_from(model: HeadModel, layer: int, inputs: LayerInputs, ids: Tensor, expected: Tensor) -> bool:
    model.logits(ids.flip(1))
    with model.start_at(layer, inputs):
        return same_logits(model.logits(ids), expected)


def _same_after_prefix(model: HeadModel, ids: Tensor, expected: Tensor, layer: int) -> bool:
    try:
        past = model.record_prefix(ids[:, :PREFIX])
        if len(past.past) != model.n_layers:
            return False
        with model.record_inputs(past) as inputs:
            if not same_logits(model.logits(ids[:, PREFIX:]), expected[:, PREFIX:]):
                return False
        for start in {0, layer}:
            with model.start_at(start, inputs):
                if not same_logits(model.logits(ids[:, PREFIX:]), expected[:, PREFIX:]):
                    return False
    except (TypeError, ValueError, IndexError, AttributeError, RuntimeError):  # custom modules know no such cache
        return False
    return True


def _same_where_scored(model: HeadModel, ids: Tensor, expected: Tensor) -> bool:
    rows, positions = torch.arange(ROWS), torch.arange(TOKENS - ROWS, TOKENS)
    try:
        with model.last_layer_where_scored(), model.only_logits(rows, positions):
            return same_logits(model.logits(ids), expected[rows.to(expected.device), positions.to(expected.device)])
    except (TypeError, ValueError, IndexError, AttributeError, RuntimeError):  # modules that want every position
        return False


def _same_tokens(model: HeadModel, ids: Tensor, expected: Tensor) -> bool:
    """Of tokens all over the vocabulary, beside a place with all logits."""
    whole = torch.tensor([[0, TOKENS - 1]])
    tokens = torch.linspace(0, expected.shape[-1] - 1, 2 * TOKENS).long()
    rows, positions = torch.arange(2 * TOKENS) % ROWS, torch.arange(2 * TOKENS) % TOKENS
    try:
        at, of_tokens = model.some_logits(ids, whole, torch.stack([rows, positions, tokens], 1))
        chosen = expected[tuple(index.to(expected.device) for index in (rows, positions, tokens))]
        return same_logits(at, expected[:1, -1]) and same_logits(of_tokens, chosen)
    except (TypeError, ValueError, IndexError, AttributeError, RuntimeError):  # packed or offloaded unembeddings
        return False


def same_logits(logits: Tensor, expected: Tensor) -> bool:
    """Whether two runs of the same computation gave the same logits, but for rounding."""
    allowed = TOLERANCE.get(expected.dtype, COARSE) * float(expected.float().std())
    return logits.shape == expected.shape and float((logits.float() - expected.float()).abs().max()) <= allowed
