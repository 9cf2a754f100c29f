"""How two heads depend on each other: what is lost without both, beyond the sum of what is lost without each."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from headatlas.atlas.portraits import Number
from headatlas.atlas.records import Head
from headatlas.methods.repair.report import SLIGHT
from headatlas.microscope.removal import Removal
from headatlas.microscope.view import TaskView, known, numbers
from headatlas.stats import Array, q_values, summarise

Pairs = Mapping[frozenset[Head], tuple[Number, float | None]]  # the interaction of two heads, and its q-value


def interactions(view: TaskView, removal: Removal, head: Head | None = None) -> Pairs:
    """The pairs of the graph, and those of a head that is not in it, corrected together.

    Norms alone make the effects of any two heads not quite additive. So p is that of an interaction no larger than
    SLIGHT of what the stronger of the two does, in total or with all others held, example by example. It comes from the
    means over groups that all effects are judged by, whose null is simulated in `benchmarks/calibration.py`; of the two
    signs only the one that is seen is asked for.
    """
    pairs = [*combinations(view.strongest, 2)]
    if head is not None and head in view.others:
        pairs += [(head, other) for other in view.strongest]
    if not pairs:
        return {}
    groups, effects = view.quantity.groups, np.stack([removal.interaction(*pair) for pair in pairs], 1)
    slight = SLIGHT * np.stack([np.maximum(_size(removal, a), _size(removal, b)) for a, b in pairs], 1)
    beyond = summarise(np.sign(effects.mean(0)) * effects - slight, groups)
    p = np.where(beyond.mean > 0, beyond.p_value, np.where(np.isnan(beyond.p_value), np.nan, 1.0))
    found = [
        number.model_copy(update={"p": known(value)}) for number, value in zip(numbers(effects, groups), p, strict=True)
    ]
    return {frozenset(pair): (number, known(q)) for pair, number, q in zip(pairs, found, q_values(p), strict=True)}


def _size(removal: Removal, head: Head) -> Array:
    """What a head does for each example, in total or with all others held, whichever is more."""
    return np.maximum(np.abs(removal.effect(head)), np.abs(removal.intact - removal.held[head]))
