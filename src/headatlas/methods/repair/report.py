"""The map of takeovers, and what is reported beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from headatlas.atlas.records import Diagnostic, Head, HeadMap
from headatlas.methods.base import Measured
from headatlas.stats import Array, summarise

if TYPE_CHECKING:
    from headatlas.methods.repair.exact import PairEffects

SLIGHT = 0.1


def report(method: str, effects: PairEffects) -> Measured:
    """Takeovers of the candidates, with errors and p-values; nothing where no head of the task is strong.

    Normalisation alone makes the effects of any two heads not quite additive, so p is that of a takeover no larger than
    SLIGHT of what the strong head does, directly or in total.
    """
    pairs = effects.pairs
    if not pairs.candidates:
        return Measured()

    def entry(metric: str, values: Array, head: Head | None = None) -> Diagnostic:
        summary = summarise(values[:, None], effects.groups)
        layer, number = head or (None, None)
        return Diagnostic(
            method, metric, float(summary.mean[0]), effects.task, layer=layer, head=number,
            low=float(summary.low[0]), high=float(summary.high[0]),
        )  # fmt: skip

    takeovers = np.stack(
        [
            effects.pair[head] - effects.single[head] - effects.single[leader]
            for head, leader in pairs.candidates.items()
        ],
        axis=1,
    )  # [example, candidate]
    sizes = {a: np.maximum(np.abs(effects.direct[a]), np.abs(effects.single[a])) for a in pairs.leaders}
    slight = SLIGHT * np.stack([sizes[leader] for leader in pairs.candidates.values()], axis=1)
    summed = np.sum(list(effects.single.values()), 0)
    entries = [
        entry("effect of all together", effects.together),
        entry("sum of single effects", summed),
        entry("together beyond sum", effects.together - summed),
    ]
    for leader in pairs.leaders:
        entries += [
            entry("total effect", effects.single[leader], leader),
            entry("direct effect", effects.direct[leader], leader),
            entry("direct beyond total", effects.direct[leader] - effects.single[leader], leader),
        ]
    for (head, (layer, number)), pair in zip(pairs.candidates.items(), effects.pair.values(), strict=True):
        number_of_leader = float(layer * effects.heads_per_layer + number)
        entries += [
            Diagnostic(method, "takes over from", number_of_leader, effects.task, layer=head[0], head=head[1]),
            entry("effect of both", pair, head),
        ]
    beyond = summarise(takeovers - slight, effects.groups)
    summary = summarise(takeovers, effects.groups)
    summary = replace(summary, p_value=np.where(beyond.mean > 0, beyond.p_value, 1.0))
    return Measured([HeadMap(method, "takeover", effects.task, 0, tuple(pairs.candidates), summary)], entries)
