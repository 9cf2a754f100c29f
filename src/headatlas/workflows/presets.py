"""How much is measured: examples per task for a map, and heads, draws and examples for its tests.

What a preset changes in a method is declared by the method itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from headatlas.errors import unknown
from headatlas.evidence.base import TestSettings
from headatlas.suites.suite import SHARES

DEFAULT = "quick"

# Examples per task in each split; all of them where None.
MAP_PRESETS: dict[str, Mapping[str, int] | None] = {
    "quick": {"fit": 48, "choose": 16, "evaluate": 32},
    "standard": {"fit": 80, "choose": 40, "evaluate": 80},
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
