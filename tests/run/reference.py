"""The slow and obvious way to score and to generate: one text alone, no padding, no cache, all logits."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from headatlas.model.heads import HeadModel
from headatlas.run.generation import line_ends
from tests import tiny


def encoded(text: str) -> list[int]:
    return tiny.tokenizer()(text)["input_ids"]


@torch.no_grad()
def token_logprobs(model: HeadModel, tokens: Sequence[int], start: int) -> list[float]:
    """The log-probability of every token from `start` on."""
    logprobs = model.module(input_ids=torch.tensor([list(tokens)])).logits[0].log_softmax(-1)
    return [logprobs[i - 1, tokens[i]].item() for i in range(start, len(tokens))]


def plain_logprob(model: HeadModel, tokens: Sequence[int], start: int) -> float:
    return sum(token_logprobs(model, tokens, start))


@torch.no_grad()
def greedy(model: HeadModel, ids: list[int], longest: int) -> list[int]:
    """The whole text again for every token, nothing but the largest logit; up to the end of a line, which is kept."""
    ends, written = set(line_ends(model.tokenizer)), list[int]()
    while len(written) < longest:
        logits = model.module(input_ids=torch.tensor([ids + written]), use_cache=False).logits[0, -1]
        if not written:
            logits[sorted(ends)] = -torch.inf
        written.append(int(logits.argmax()))
        if written[-1] in ends:
            break
    return written
