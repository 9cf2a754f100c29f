"""Names that settings may take, apart from what they do, so that checking them needs no torch."""

from __future__ import annotations

from headatlas.errors import unknown

BASELINES = ("mean", "zero", "resample")  # what replaces a removed head


def check_baseline(kind: str) -> None:
    if kind not in BASELINES:
        raise unknown("baseline", kind, BASELINES)
