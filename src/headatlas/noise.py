"""How examples move a map as a whole.

Standard errors are about single heads. But all heads are measured on the same examples, so their errors go together,
and a rank correlation of two maps varies several times as much as independent errors would make it. What each set of
examples adds to the map tells how.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headatlas.stats import Array

MOST_SETS = 20


@dataclass(frozen=True)
class Noise:
    """`parts` [set, head]: what each set of groups adds to the mean, as a delete-one-set jackknife has it; the sum of
    their squares is the variance. `examples` names the examples: maps with the same name share their noise, and their
    sets are the same. Empty where that is not known."""

    parts: Array
    examples: str = ""


def noise_of(values: Array, groups: Sequence[str], examples: str = "") -> Noise | None:
    """The noise of the mean over examples of values [example, head]; None with fewer than two groups.

    Groups are dealt to at most MOST_SETS sets in an order that depends on their names alone.
    """
    names, codes = np.unique(np.asarray(groups), return_inverse=True)
    sets = min(MOST_SETS, len(names))
    if sets < 2:
        return None
    set_of_group = np.random.default_rng(0).permutation(len(names)) % sets
    set_of_example = set_of_group[codes]
    sums = np.zeros((sets, values.shape[1]))
    np.add.at(sums, set_of_example, values - values.mean(axis=0))
    without = (len(values) - np.bincount(set_of_example, minlength=sets))[:, None]
    return Noise(np.sqrt((sets - 1) / sets) * sums / without, examples)


def name_of(texts: Sequence[Sequence[str]]) -> str:
    """A fingerprint of examples, each given by some texts, in their order."""
    digest = hashlib.sha256()
    for parts in texts:
        for part in parts:
            digest.update(f"{len(part)}:{part}".encode())
        digest.update(b"\n")
    return digest.hexdigest()[:16]
