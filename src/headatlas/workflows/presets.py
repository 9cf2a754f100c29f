"""How much is measured: examples per task for a map, and heads, draws and examples for its tests.

What a preset changes in a method is declared by the method itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from headatlas.errors import UsageError, unknown
from headatlas.evidence.base import TestSettings
from headatlas.run.settings import SET_BASELINES, check_baseline
from headatlas.suites.suite import SHARES

DEFAULT = "quick"

# Examples per task in each split; all of them where None.
MAP_PRESETS: dict[str, Mapping[str, int] | None] = {
    "quick": {"fit": 48, "choose": 90, "evaluate": 32},
    "standard": {"fit": 80, "choose": 90, "evaluate": 80},
    "paper": None,
}

TEST_PRESETS = {
    "quick": TestSettings(
        ks=(16,), k=16, draws=20, few_draws=2, sizes=(16, 64), examples=8, chains=4, strengths=(1.0, 5.0),
        scales=(0.5, 2.0),
    ),
    "standard": TestSettings(
        ks=(1, 2, 4, 8, 16, 32), k=16, draws=50, few_draws=10, sizes=(4, 8, 16, 32, 64, 128), examples=60, chains=40
    ),
    "paper": TestSettings(
        ks=(1, 2, 4, 8, 16, 32, 64, 128), k=32, draws=100, few_draws=20, sizes=(1, 2, 4, 8, 16, 32, 64, 128, 192),
        examples=None, chains=None,
    ),
}  # fmt: skip


def check_preset(name: str) -> str:
    if name not in MAP_PRESETS:
        raise unknown("preset", name, MAP_PRESETS)
    return name


def split_limits(preset: str, limit: int | None) -> dict[str, int] | None:
    """Examples per task in each split: the preset's, or a number per task shared out; rounding goes to `fit`."""
    if limit is None:
        limits = MAP_PRESETS[preset]
        return None if limits is None else dict(limits)
    shared = {split: round(limit * share) for split, share in SHARES.items() if split != "fit"}
    return {"fit": limit - sum(shared.values()), **shared}


def choose_settings(
    preset: str,
    shape: tuple[int, int],
    ks: Sequence[int] | None = None,
    draws: int | None = None,
    limit: int | None = None,
    baseline: str | None = None,
    distractors: bool = True,
) -> TestSettings:
    """The settings of a test preset, with what was asked for in place of its own numbers."""
    settings = TEST_PRESETS[check_preset(preset)]
    layers, heads = shape
    for name, value, least, most in (
        *(("k", k, 1, layers * heads - 1) for k in ks or ()),
        ("draws", draws, 1, None),
        ("limit", limit, 2, None),
    ):
        if value is not None and (value < least or (most is not None and value > most)):
            bounds = f"at least {least}" if most is None else f"from {least} to {most}"
            raise UsageError(f"`{name}` {value} was asked for; it must be {bounds}.")
    check_baseline(baseline, SET_BASELINES)
    return replace(
        settings,
        ks=tuple(sorted(set(ks))) if ks else settings.ks,
        k=max(ks) if ks else settings.k,
        draws=draws or settings.draws,
        examples=limit or settings.examples,
        chains=limit or settings.chains,
        baseline=baseline or settings.baseline,
        distractors=distractors,
    )
