"""Where in depth a map lies: its centre, its spread, and the band of layers that holds more than its share."""

from __future__ import annotations

import numpy as np

from headatlas.patterns.finding import Statement
from headatlas.patterns.kind import Kind, one_layer
from headatlas.patterns.layer_profile import centre_of_mass, layer_shares, spread_of_mass
from headatlas.patterns.nulls import ANYWHERE, Nulls
from headatlas.patterns.phrases import null_range, slightly
from headatlas.stats import Array
from headatlas.wording import decimal, percent


def depth(nulls: Nulls) -> list[Statement]:
    task, last_layer = nulls.map.task, nulls.map.shape[0] - 1
    centre = float(centre_of_mass(layer_shares(nulls.map, nulls.map.size)))
    draws = centre_of_mass(layer_shares(nulls.map, np.abs(nulls.anywhere)))
    shift = centre - float(draws.mean())
    numbers = (
        f"its centre of mass is layer {decimal(centre, 1)} of 0 to {last_layer}, heads in random order give "
        f"{null_range(draws)}"
    )
    return [
        Statement(
            (task,),
            f"{task} lies {slightly(shift / last_layer)}{'late' if shift > 0 else 'early'}: {numbers}.",
            f"{task} is not shown to lie early or late: {numbers}.",
            value=centre,
            effect=shift / last_layer,
            observed=centre,
            draws=draws,
            sides=2,
        )
    ]


def spread(nulls: Nulls) -> list[Statement]:
    task = nulls.map.task
    observed = float(spread_of_mass(layer_shares(nulls.map, nulls.map.size)))
    draws = spread_of_mass(layer_shares(nulls.map, np.abs(nulls.anywhere)))
    expected = float(draws.mean())
    effect = observed / expected - 1 if expected > 0 else 0.0
    direction = "concentrated in depth" if effect < 0 else "drawn apart in depth, towards both ends"
    numbers = (
        f"its mass has a standard deviation of {decimal(observed, 1)} layers about its centre, heads in random order "
        f"give {null_range(draws)}"
    )
    return [
        Statement(
            (task,),
            f"{task} is {slightly(effect)}{direction}: {numbers}.",
            f"{task} is neither shown to be concentrated in depth nor drawn apart: {numbers}.",
            value=observed,
            effect=effect,
            observed=observed,
            draws=draws,
            sides=2,
        )
    ]


def layer_band(nulls: Nulls) -> list[Statement]:
    """The run of at most half the layers that holds most beyond its expectation."""
    task_map = nulls.map
    drawn = np.abs(nulls.anywhere)
    # Square roots keep single heads from deciding where the band is.
    roots = np.vstack([layer_shares(task_map, np.sqrt(size)) for size in (task_map.size[None], drawn)])
    first, last, scores = _scan(roots)
    share = float(layer_shares(task_map, task_map.size)[first : last + 1].sum())
    expected = float(layer_shares(task_map, drawn).mean(axis=0)[first : last + 1].sum())
    band = f"layer {first} holds" if first == last else f"layers {first} to {last} hold"
    numbers = f"{band} {percent(share)} of the mass, heads in random order give {percent(expected)}"
    return [
        Statement(
            (task_map.task,),
            f"{task_map.task} has a band of layers with large effects: {numbers}.",
            f"{task_map.task} has no band of layers shown to hold more than its share; the nearest: {numbers}.",
            value=share,
            effect=share - expected,
            observed=float(scores[0]),
            draws=scores[1:],
        )
    ]


def _scan(shares: Array) -> tuple[int, int, Array]:
    """First and last layer of the best run in row 0, and the score of the best run in every row of [row, layer].

    Each run's share is judged by the mean and spread of that run over all rows.
    """
    layers = shares.shape[1]
    sums = np.concatenate([np.zeros((len(shares), 1)), np.cumsum(shares, axis=1)], axis=1)
    best, first, last = np.full(len(shares), -np.inf), 0, 0
    for width in range(1, max(1, layers // 2) + 1):
        share = sums[:, width:] - sums[:, :-width]
        deviation = share.std(axis=0)
        usable = deviation > 1e-9
        if not usable.any():
            continue
        score = (share[:, usable] - share[:, usable].mean(axis=0)) / deviation[usable]
        if score[0].max() > best[0]:
            first = int(np.flatnonzero(usable)[score[0].argmax()])
            last = first + width - 1
        best = np.maximum(best, score.max(axis=1))
    return first, last, best


DEPTH = Kind(
    name="depth",
    question="Does the task lie early or late?",
    null=ANYWHERE,
    answer=depth,
    obstacle=one_layer,
)
SPREAD = Kind(
    name="spread",
    question="Is the task concentrated in depth, or drawn apart?",
    null=ANYWHERE,
    answer=spread,
    obstacle=one_layer,
)
LAYERS = Kind(
    name="layers",
    question="Which band of layers holds more than its share?",
    null=f"{ANYWHERE}; best of all runs of layers",
    answer=layer_band,
    obstacle=one_layer,
)
