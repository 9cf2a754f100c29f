"""How functions are told apart in pictures: a hue and a mark for each, and how strongly a head is coloured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headatlas.patterns.functions import strength
from headatlas.stats import Array
from headatlas.views.colours import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, YELLOW

# Okabe and Ito's colours in an order in which neighbours differ in lightness too, and an indigo instead of their black,
# which would fade to the grey of heads without a function. The second hue of each is for dark ground.
HUES = (
    (BLUE, "#3a97d8"), (ORANGE, "#e69f00"), (GREEN, "#10b98a"), (VERMILION, "#ee7a33"), (SKY, "#9bd5f7"),
    (PURPLE, "#e093be"), (YELLOW, "#f0e442"), ("#332288", "#9d90f5"),
)  # fmt: skip
WEAKEST = 0.4  # how far the weakest head is from the ground
STEPS = 20  # of depth: more could not be told apart


class Mark(NamedTuple):
    """What stands for a function: one or two letters, and a hue on light and on dark ground."""

    letters: str
    light: str
    dark: str


def function_marks(tasks: Sequence[str]) -> dict[str, Mark]:
    """A mark for each task. Letters differ for all; hues do for as many as there are."""
    letters = initials(tasks)
    return {task: Mark(letters[task], *HUES[i % len(HUES)]) for i, task in enumerate(tasks)}


def depths(shares: Array) -> Array:
    """How far each head is from the ground, up to 1 for the largest share."""
    most = float(shares.max()) if shares.size else 0.0
    steps: Array = np.round((WEAKEST + (1 - WEAKEST) * strength(shares, most)) * STEPS) / STEPS
    return steps


def initials(tasks: Sequence[str]) -> dict[str, str]:
    """One or two letters per task, different for all."""
    letters: dict[str, str] = {}
    for task in tasks:
        words = [word for word in task.replace("-", " ").split() if word]
        candidates = [words[0][0].upper() if words else "?", *(word[:2].capitalize() for word in words)]
        candidates += [f"{words[0][0].upper() if words else '?'}{i}" for i in range(2, len(tasks) + 2)]
        letters[task] = next(letter for letter in candidates if letter not in letters.values())
    return letters
