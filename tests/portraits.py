"""A portrait with known numbers, for everything that shows one."""

from __future__ import annotations

from typing import Any

import numpy as np

from headatlas.atlas.portraits import (
    Circuit,
    InTask,
    Neutral,
    Number,
    Pair,
    Partner,
    Portrait,
    Shown,
    Weight,
    pack,
)

PROMPT = ["<s>", "The", " key", " of", " Ann", " is", " red", ".", " Ann", "'s", " key", " is"]
TWIN = ["<s>", "The", " key", " of", " Ann", " is", " blue", ".", " Ann", "'s", " key", " is"]


def number(value: float, half: float = 0.3, p: float | None = 0.001) -> Number:
    return Number(value=value, low=value - half, high=value + half, p=p)


def attention() -> str:
    """From the last token .6 on the seventh, .3 on the first and .1 on itself; others look at the first."""
    weights = np.zeros((12, 12))
    weights[:, 0] = 1
    weights[-1] = 0
    weights[-1, [6, 0, 11]] = 0.6, 0.3, 0.1
    return pack(weights)


def shown(margin: float = 2.5, without: float = 0.5, **other: Any) -> Shown:
    values: dict[str, Any] = {
        "id": "r1", "prompt": PROMPT, "answer": " red", "foil": " blue", "changed": [6], "twin": TWIN,
        "twin_changed": [6], "margin": margin, "without": without, "attention": attention(),
        "twin_attention": attention(), "promoted": [Weight(text=" red", value=1.5)],
        "suppressed": [Weight(text=" blue", value=-0.75)],
    }  # fmt: skip
    return Shown(**(values | other))


def in_task(task: str = "Retrieval", **other: Any) -> InTask:
    values: dict[str, Any] = {
        "task": task, "method": "ablate", "rank": 1, "metric": "margin", "baseline": "twin", "examples": 24,
        "groups": 20, "margin": number(3.0), "total": number(1.9), "held": number(1.0), "direct": number(0.4),
        "specific": number(0.08, 0.02), "specific_q": 0.002,
        "looks": [
            Weight(text="the words that differ in the twin", value=0.61),
            Weight(text="the first token", value=0.3),
            Weight(text="elsewhere", value=0.09),
        ],
        "compared_with": ["L2H1", "L3H0"],
        "backups": [Partner(layer=3, head=0, interaction=number(0.5), q=0.01)],
        "suppliers": [Partner(layer=0, head=2, interaction=number(-0.7), q=0.02)],
        "strongest": [shown()],
        "weakest": [shown(1.0, 1.25, id="r2", attention=None, twin_attention=None, promoted=[], suppressed=[])],
    }  # fmt: skip
    return InTask(**(values | other))


def portrait(layer: int = 1, head: int = 2, **other: Any) -> Portrait:
    values: dict[str, Any] = {
        "layer": layer, "head": head, "tasks": [in_task()],
        "circuit": Circuit(
            pairs=[Pair(read=" red", written=" red", value=2.25)], by_chance=4.4, copying=0.82, itself=0.4, tokens=500
        ),
        "neutral": Neutral(
            texts=24, lost=number(0.0021, 0.001), looks=[Weight(text="the first token", value=0.8)]
        ),
        "unavailable": [],
    }  # fmt: skip
    return Portrait(**(values | other))
