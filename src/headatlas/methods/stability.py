"""Would the same heads come first again? By halves of the examples, and with each wording left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headatlas.atlas.records import (
    FIRST_HEADS,
    SHARED_BY_HALVES,
    WITHOUT_A_WORDING,
    WITHOUT_WORST_WORDING,
    WORDINGS,
    Diagnostic,
)
from headatlas.noise import Noise, name_of, noise_of
from headatlas.stats import Array

if TYPE_CHECKING:
    from headatlas.suites.example import Example

FIRST = 10  # heads of a map that should be found again; a quarter of them where there are fewer than 40
HALVINGS = 20


def stability(method: str, task: str, values: Array, examples: Sequence[Example], seed: int = 0) -> list[Diagnostic]:
    """How many of the first heads are found again, from values [example, head] whose mean is the map."""

    def entry(metric: str, value: float) -> Diagnostic:
        return Diagnostic(method, metric, float(value), task)

    k = max(1, min(FIRST, values.shape[1] // 4))
    entries = [entry(FIRST_HEADS, k)]
    shared = [_shared(values[half], values[~half], k) for half in halves([e.group for e in examples], seed)]
    if shared:
        entries.append(entry(SHARED_BY_HALVES, float(np.mean(shared))))
    wordings = [example.template or "" for example in examples]
    names = sorted(set(wordings) - {""})
    if len(names) > 1:
        left = [_shared(values, values[np.array(wordings) != name], k) for name in names]
        entries += [
            entry(WORDINGS, len(names)),
            entry(WITHOUT_A_WORDING, float(np.mean(left))),
            entry(WITHOUT_WORST_WORDING, min(left)),
        ]
    return entries


def example_noise(values: Array, examples: Sequence[Example]) -> Noise | None:
    """The noise of the mean of values [example, head], under the name of these examples."""
    name = name_of([(e.id, e.group, e.prompt, e.answer) for e in examples])
    return noise_of(values, [example.group for example in examples], name)


def halves(groups: Sequence[str], seed: int) -> Iterator[NDArray[np.bool_]]:
    """Which examples are in the first half, for several random halvings that cut no group; none with one group."""
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    rng = np.random.default_rng([seed, HALVINGS])
    if codes.max(initial=0) > 0:
        for _ in range(HALVINGS):
            yield rng.permutation(codes.max() + 1)[codes] % 2 == 0


def _shared(first: Array, second: Array, k: int) -> int:
    """How many of the k heads with the largest means two samples have in common."""
    tops = [set(np.argsort(-sample.mean(0), kind="stable")[:k].tolist()) for sample in (first, second)]
    return len(tops[0] & tops[1])
