"""Does an estimate have the right sign? The heads of largest size, measured exactly on a few examples."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from headatlas.atlas.records import Diagnostic
from headatlas.methods.effects import exact_effects, single_heads
from headatlas.stats import Array, summarise

if TYPE_CHECKING:
    from headatlas.run.quantity import TaskQuantity
    from headatlas.run.work import Step

SIGNS_CHECKED, WRONG_SIGNS, WRONG_SIGN = "signs checked", "wrong signs", "exact effect of a wrong sign"
CHECKED = 8  # heads of a task
EXAMPLES = 6  # on which they are measured
TITLE = "Check of signs"


def check_signs(method: str, quantity: TaskQuantity, estimated: Array) -> list[Diagnostic]:
    """Of the heads with the largest estimates [head], how many have the other sign when they are measured exactly.

    A sign counts as wrong where the 95 % interval of the exact effect lies on the other side of zero. Gradients are
    zero where attention is saturated, and what is then left of an estimate can point anywhere.
    """
    heads = quantity.context.heads
    largest = sorted(np.argsort(-np.abs(estimated), kind="stable")[:CHECKED].tolist())
    some = _some(quantity)
    units = single_heads(heads[i] for i in largest)
    effects = exact_effects(TITLE, {quantity.task: some}, {quantity.task: units})[quantity.task]
    exact = summarise(effects, some.groups)
    entries = []
    for column, i in enumerate(largest):
        low, high = exact.low[column], exact.high[column]
        if high < 0 < estimated[i] or low > 0 > estimated[i]:
            layer, head = heads[i]
            value = float(exact.mean[column])
            entries.append(
                Diagnostic(method, WRONG_SIGN, value, quantity.task, layer=layer, head=head, low=low, high=high)
            )
    return [
        Diagnostic(method, SIGNS_CHECKED, float(len(largest)), quantity.task),
        Diagnostic(method, WRONG_SIGNS, float(len(entries)), quantity.task),
        *entries,
    ]


def sign_step(quantity: TaskQuantity) -> Step:
    """The work of `check_signs`, for heads that are spread over all layers."""
    from headatlas.methods.rehearse import exact_step, most_exact_tokens

    heads, some = quantity.context.heads, _some(quantity)
    units = single_heads(heads[i] for i in np.linspace(0, len(heads) - 1, min(CHECKED, len(heads))).astype(int))
    most = most_exact_tokens(some, len(some.items), single_heads(heads), len(units))
    return replace(exact_step(TITLE, {quantity.task: some}, units), most=most)


def _some(quantity: TaskQuantity) -> TaskQuantity:
    return quantity.only(np.unique(np.linspace(0, len(quantity.items) - 1, EXAMPLES).astype(int)).tolist())
