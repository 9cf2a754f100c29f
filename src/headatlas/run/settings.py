"""Names that settings may take, apart from what they do, so that checking them needs no torch."""

from __future__ import annotations

from collections.abc import Sequence

from headatlas.errors import unknown

METRICS = ("margin", "logprob")  # what is measured of an example
TWIN_BASELINES = ("twin", "pair")  # the head's z on the twin's prompt: the example's twin, or a lent one
SET_BASELINES = ("mean", "zero", "resample")  # those that can replace any set of heads
BASELINES = (*SET_BASELINES, *TWIN_BASELINES)  # what replaces a removed head


def check_baseline(kind: str | None, allowed: Sequence[str] = BASELINES) -> None:
    if kind is not None and kind not in allowed:
        raise unknown("baseline", kind, allowed)


def check_metric(name: str | None) -> None:
    if name is not None and name not in METRICS:
        raise unknown("metric", name, METRICS)
