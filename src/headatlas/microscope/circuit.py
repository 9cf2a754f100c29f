"""What a head would write of each word of the vocabulary if it looked at it alone: its OV circuit.

A text of one token attends to itself with weight 1. So where the embedding of a token enters the layer of a head as it
is, z of the head is what its values make of that token. From there the way to the logits is a matrix: the head's part
of the out-projection, the gain of the final norm, the unembedding. Left out are what lower layers would have added to
the embedding, what higher layers would do with the write, the size by which the final norm divides, and soft caps; so
only comparisons between numbers of one head mean something.

A head that writes the same whatever it reads says nothing about what it reads, so the mean over read words is taken off
the values; and the mean over written words off the logits, because adding to all of them changes no probability. The
logits of some words, mostly rare ones, go up and down with anything that is read. So pairs are compared in standard
deviations of the written word's logit over all words that are read. The copying score is that of the logits themselves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headatlas.atlas.portraits import Circuit, Pair
from headatlas.atlas.records import Head
from headatlas.microscope.pieces import word
from headatlas.microscope.view import short
from headatlas.model.heads import HeadModel
from headatlas.run.cells import Cell, CellKind, Result
from headatlas.run.context import RunContext

CIRCUIT = CellKind("OV circuit", 3)
TITLE = "Circuits over the vocabulary"
WORDS = 8000  # the first words of the vocabulary, which are the most frequent ones in most tokenizers
PAIRS = 8
AMONG = 10  # written words among which a read word counts as written itself
CHUNK = 1024  # words in a forward
UNAVAILABLE = (
    "Embeddings cannot be taken through the values and the out-projection of single heads to the logits in this "
    "architecture, so what heads write over the vocabulary is not known."
)


def circuits(context: RunContext, heads: Sequence[Head]) -> dict[Head, Circuit]:
    """The circuits of heads; none where the architecture does not allow it."""
    model = context.model
    if not (model.adds_directly and model.sharing.layers):
        return {}
    words = vocabulary_words(model.tokenizer, model.module.get_output_embeddings().weight.shape[0])
    if len(words) < PAIRS:
        return {}
    results = context.runner.run(TITLE, [_cell(context, head, words) for head in heads])
    return {
        head: _circuit(model.tokenizer, words, result)
        for head, result in zip(heads, results, strict=True)
        if "unavailable" not in result
    }


def vocabulary_words(tokenizer: Any, size: int) -> list[int]:
    """Tokens that are letters after a blank, by id; without the blank where the tokenizer writes none."""
    special = set(tokenizer.all_special_ids)
    blanks: list[int] = []
    plain: list[int] = []
    for token in range(min(len(tokenizer), size)):
        text = word(tokenizer, token)
        if token not in special and text.strip().isalpha():
            (blanks if text.startswith(" ") else plain).append(token)
        if len(blanks) == WORDS:
            break
    return blanks or plain[:WORDS]


def _cell(context: RunContext, head: Head, words: Sequence[int]) -> Cell:
    digest = hashlib.sha256(np.array(words, dtype=np.int64).tobytes()).hexdigest()[:16]
    cost = len(words) / context.model.n_layers
    return context.cell(CIRCUIT, partial(_compute, context.model, head, words), cost, head=list(head), words=digest)


@torch.inference_mode()
def _compute(model: HeadModel, head: Head, words: Sequence[int]) -> Result:
    (layer, number), tokens = head, torch.tensor(words)
    read = torch.cat([model.values(layer, part)[:, number].float().cpu() for part in tokens.split(CHUNK)])
    written = _to_logits(model, model.out_weight(layer)[number].float().cpu(), tokens)
    if written is None:
        return {"unavailable": np.zeros(1)}
    read, written = read - read.mean(0), written - written.mean(1, keepdim=True)  # [word, dim], [dim, word]
    spread = (written * (read.T @ read / len(words) @ written)).sum(0).clamp(min=0).sqrt()  # of each written word
    scaled = written / spread.clamp(min=1e-6 * float(spread.max()) or 1.0)
    best, partner, itself = [], [], 0
    for start in range(0, len(words), CHUNK):
        logits = read[start : start + CHUNK] @ scaled
        own = logits[torch.arange(len(logits)), torch.arange(start, start + len(logits))]
        itself += int(((logits > own[:, None]).sum(1) < AMONG).sum())
        value, index = logits.max(1)
        best.append(value)
        partner.append(index)
    values, reads = torch.cat(best).topk(PAIRS)
    eigenvalues = torch.linalg.eigvals(written.double() @ read.double())
    size = float(eigenvalues.abs().sum())
    return {
        "read": tokens[reads].numpy(),
        "written": tokens[torch.cat(partner)[reads]].numpy(),
        "values": values.numpy(),
        "copying": np.array([float(eigenvalues.real.sum()) / size if size else 0.0]),
        "itself": np.array([itself / len(words)]),
    }


def _to_logits(model: HeadModel, out: Tensor, tokens: Tensor) -> Tensor | None:
    """From a head to the logits of words [head_dim, word]: `out` [head_dim, d_model], gain, unembedding.

    What the final norm does to directions is asked of the norm itself. A vector of +1 and -1 has mean 0 and size 1, so
    the norm gives its gain, up to a constant that is the same for the opposite vector. A norm that takes off the mean
    does nothing to a vector of ones.
    """
    unembedding = model.module.get_output_embeddings().weight[tokens].float().cpu()
    signs = torch.ones(model.d_model)
    signs[::2] = -1
    probes = torch.stack([signs, -signs, torch.ones(model.d_model), -torch.ones(model.d_model)])
    normed = model.normed(probes.to(model.device, model.dtype)).float().cpu()
    if normed.shape[1] != model.d_model:  # a projection comes before the unembedding
        return None
    gain = (normed[0] - normed[1]) / 2 * signs
    takes_off_mean = float((normed[2] - normed[3]).abs().max()) < 1e-3 * float(gain.abs().max())
    if takes_off_mean:
        out = out - out.mean(1, keepdim=True)
    return (out * gain) @ unembedding.T


def _circuit(tokenizer: Any, words: Sequence[int], result: Result) -> Circuit:
    rows = zip(result["read"].tolist(), result["written"].tolist(), result["values"].tolist(), strict=True)
    return Circuit(
        pairs=[Pair(read=word(tokenizer, a), written=word(tokenizer, b), value=short(value)) for a, b, value in rows],
        by_chance=short(NormalDist().inv_cdf(0.5 ** (1 / len(words) ** 2))),
        copying=short(float(result["copying"][0])),
        itself=short(float(result["itself"][0])),
        tokens=len(words),
    )
