"""Where in depth a map lies: its centre, its spread, and the band of layers that holds more than its share."""

from __future__ import annotations

import numpy as np

from headatlas.patterns.finding import Statement
from headatlas.patterns.maps import TaskMap
from headatlas.patterns.nulls import ANYWHERE, Nulls
from headatlas.patterns.words import band, percent, slightly
from headatlas.stats import Array


def layer_mass(found: TaskMap, size: Array) -> Array:
    """The share of the mass in every layer: [..., n] to [..., layer]."""
    member = np.zeros((len(found.layer), found.shape[0]), dtype=size.dtype)
    member[np.arange(len(found.layer)), found.layer] = 1
    mass = (size @ member).astype(float)
    total = mass.sum(axis=-1, keepdims=True)
    return mass / np.where(total > 0, total, 1)


def centre(mass: Array) -> Array:
    """The centre of mass in layers, of shares [..., layer]."""
    return mass @ np.arange(mass.shape[-1], dtype=float)


def spread(mass: Array) -> Array:
    """The standard deviation in layers about the centre of mass."""
    layers = np.arange(mass.shape[-1], dtype=float)
    return np.sqrt((mass * (layers - centre(mass)[..., None]) ** 2).sum(axis=-1))


def depth(nulls: Nulls) -> list[Statement]:
    """Centre, spread and band: one set of draws serves all three."""
    found = nulls.map
    observed, drawn = layer_mass(found, found.size), layer_mass(found, np.abs(nulls.anywhere))
    # Roots keep single heads from deciding where the band is.
    roots = layer_mass(found, np.sqrt(found.size)), layer_mass(found, np.sqrt(np.abs(nulls.anywhere)))
    return [
        _centre(found, observed, drawn),
        _spread(found, observed, drawn),
        _band(found, *roots, observed, drawn.mean(axis=0)),
    ]


def _centre(found: TaskMap, observed: Array, drawn: Array) -> Statement:
    own, draws = float(centre(observed)), centre(drawn)
    last = found.shape[0] - 1
    shift = own - float(draws.mean())
    shown = f"its centre of mass is layer {own:.1f} of 0 to {last}, heads in random order give {band(draws)}"
    return Statement(
        "depth",
        (found.task,),
        f"{found.task} lies {slightly(shift / last)}{'late' if shift > 0 else 'early'}: {shown}.",
        f"{found.task} is not shown to lie early or late: {shown}.",
        value=own,
        effect=shift / last,
        null=ANYWHERE,
        observed=own,
        draws=draws,
        sides=2,
    )


def _spread(found: TaskMap, observed: Array, drawn: Array) -> Statement:
    own, draws = float(spread(observed)), spread(drawn)
    expected = float(draws.mean())
    shown = f"its mass has a standard deviation of {own:.1f} layers about its centre, heads in random order give {band(draws)}"  # noqa: E501
    effect = own / expected - 1 if expected > 0 else 0.0
    where = "concentrated in depth" if effect < 0 else "drawn apart in depth, towards both ends"
    return Statement(
        "spread",
        (found.task,),
        f"{found.task} is {slightly(effect)}{where}: {shown}.",
        f"{found.task} is neither shown to be concentrated in depth nor drawn apart: {shown}.",
        value=own,
        effect=effect,
        null=ANYWHERE,
        observed=own,
        draws=draws,
        sides=2,
    )


def _band(found: TaskMap, observed: Array, drawn: Array, mass: Array, expected_mass: Array) -> Statement:
    """Scan over all runs of at most half the layers; each run's share is judged by its own null mean and spread."""
    layers = found.shape[0]
    sums = np.concatenate([np.zeros((len(drawn) + 1, 1)), np.cumsum(np.vstack([observed, drawn]), axis=1)], axis=1)
    best, place = np.full(len(sums), -np.inf), (0, 0)
    for width in range(1, max(1, layers // 2) + 1):
        share = sums[:, width:] - sums[:, :-width]
        deviation = share.std(axis=0)
        usable = deviation > 1e-9
        if not usable.any():
            continue
        score = (share[:, usable] - share[:, usable].mean(axis=0)) / deviation[usable]
        if score[0].max() > best[0]:
            start = int(np.flatnonzero(usable)[score[0].argmax()])
            place = (start, start + width - 1)
        best = np.maximum(best, score.max(axis=1))
    first, last = place
    share, expected = float(mass[first : last + 1].sum()), float(expected_mass[first : last + 1].sum())
    where = f"layer {first}" if first == last else f"layers {first} to {last}"
    verb = "holds" if first == last else "hold"
    shown = f"{where} {verb} {percent(share)} of the mass, heads in random order give {percent(expected)}"
    return Statement(
        "layers",
        (found.task,),
        f"{found.task} has a band of strong layers: {shown}.",
        f"{found.task} has no band of layers shown to be strong: {shown}, the highest of all runs of layers.",
        value=share,
        effect=share - expected,
        null=ANYWHERE + "; best of all runs of layers",
        observed=float(best[0]),
        draws=best[1:],
    )
