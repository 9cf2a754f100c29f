"""How two heads depend on each other: what is lost without both, beyond the sum of what is lost without each."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from headatlas.atlas.portraits import Number, Partner
from headatlas.atlas.records import Head
from headatlas.methods.repair.report import SLIGHT
from headatlas.microscope.removal import Removal
from headatlas.microscope.view import TaskView, known, numbers
from headatlas.stats import LEVEL, q_values

Pairs = Mapping[frozenset[Head], tuple[Number, float | None]]  # the interaction of two heads, and its q-value


def interactions(view: TaskView, removal: Removal, head: Head | None = None) -> Pairs:
    """The pairs of the graph, and those of a head that is not in it, corrected together.

    An interaction is a mean over examples that come in groups, as every effect of a map is; `python -m benchmarks
    calibration` simulates the null of its p-value.
    """
    pairs = [*combinations(view.strongest, 2)]
    if head is not None and head in view.others:
        pairs += [(head, other) for other in view.strongest]
    if not pairs:
        return {}
    found = numbers(np.stack([removal.interaction(*pair) for pair in pairs], 1), view.quantity.groups)
    q = q_values(np.array([np.nan if number.p is None else number.p for number in found]))
    return {frozenset(pair): (number, known(value)) for pair, number, value in zip(pairs, found, q, strict=True)}


def partners(view: TaskView, removal: Removal, head: Head) -> list[Partner]:
    """The heads on which a head depends, or which depend on it, the largest interactions first.

    Norms alone make the effects of any two heads not quite additive. So an interaction counts where it is told from
    none, and is at least SLIGHT of what the head does, in total or with all others held.
    """
    pairs = interactions(view, removal, head)
    total, held = removal.effect(head).mean(), (removal.intact - removal.held[head]).mean()
    slight = SLIGHT * max(abs(total), abs(held))
    with_others = [
        Partner(layer=other[0], head=other[1], interaction=number, q=q)
        for other in view.strongest
        if other != head
        for number, q in [pairs[frozenset({head, other})]]
    ]
    sure = [one for one in with_others if one.q is not None and one.q < LEVEL and abs(one.interaction.value) >= slight]
    return sorted(sure, key=lambda one: -abs(one.interaction.value))
