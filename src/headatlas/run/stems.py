"""Texts of a batch of which several begin alike: each shared beginning is run once, and texts go on after their own.

Only for the intact model: no head may be replaced in what is shared.
"""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor

from headatlas.model.heads import HeadModel
from headatlas.model.partial import LayerInputs
from headatlas.run.encoding import common_prefix
from headatlas.run.work import OVERHEAD


def record_stems(model: HeadModel, ids: Tensor) -> LayerInputs:
    """What `record_prefix` gives for ids [row, pos], from fewer tokens."""
    stem = stem_length(ids)
    if not stem:
        return model.record_prefix(ids)
    distinct, which = ids[:, :stem].unique(dim=0, return_inverse=True)
    begun = record_stems(model, distinct)
    past = [(keys[which.to(keys.device)], values[which.to(values.device)]) for keys, values in begun.past]
    return model.record_prefix(ids[:, stem:], LayerInputs(stem, past))


def stem_work(ids: Tensor) -> tuple[int, int]:
    """How many tokens `record_stems` runs, and in how many forwards."""
    stem = stem_length(ids)
    if not stem:
        return ids.numel(), int(ids.numel() > 0)
    tokens, forwards = stem_work(ids[:, :stem].unique(dim=0))
    rest = ids[:, stem:].numel()
    return tokens + rest, forwards + int(rest > 0)


def stem_length(ids: Tensor) -> int:
    """The length of beginnings at which running equal ones once saves most; 0 where that is less than another forward
    costs."""
    shared = sorted(common_prefix(one, next_one) for one, next_one in pairwise(sorted(ids.tolist())))
    saved = [(length * (len(shared) - number), length) for number, length in enumerate(shared)]
    most, length = max(saved, default=(0, 0))
    return length if most > OVERHEAD else 0
