"""How much is measured: examples per task for a map, and heads, draws and examples for its tests.

What a preset changes in a method is declared by the method itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from headatlas.errors import UsageError, unknown
from headatlas.evidence.base import TestSettings
from headatlas.run.settings import SET_BASELINES, check_baseline
from headatlas.suites.suite import SHARES

DEFAULT = "quick"


@dataclass(frozen=True)
class Preset:
    """`limits` are the examples per task in each split of a map, all of them where None; `tests` is for its tests."""

    limits: Mapping[str, int] | None
    tests: TestSettings


PRESETS = {
    "quick": Preset(
        {"fit": 48, "choose": 48, "evaluate": 32},
        TestSettings(
            ks=(16,), k=16, draws=60, few_draws=5, sizes=(16, 64), examples=8, chains=4, strengths=(1.0, 5.0),
            scales=(0.5, 2.0), elbow=False,
        ),
    ),
    "standard": Preset(
        {"fit": 80, "choose": 90, "evaluate": 80},
        TestSettings(
            ks=(1, 2, 4, 8, 16, 32), k=16, draws=50, few_draws=10, sizes=(4, 8, 16, 32, 64, 128), examples=60,
            chains=40,
        ),
    ),
    "paper": Preset(
        None,
        TestSettings(
            ks=(1, 2, 4, 8, 16, 32, 64, 128), k=32, draws=100, few_draws=20,
            sizes=(1, 2, 4, 8, 16, 32, 64, 128, 192), examples=None, chains=None,
        ),
    ),
}  # fmt: skip


def find_preset(name: str) -> Preset:
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    return PRESETS[name]


def split_limits(preset: str, limit: int | None) -> dict[str, int] | None:
    """Examples per task in each split: the preset's, or a number per task shared out; rounding goes to `fit`."""
    if limit is None:
        limits = find_preset(preset).limits
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
    settings = find_preset(preset).tests
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
