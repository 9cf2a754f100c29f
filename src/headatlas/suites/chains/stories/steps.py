"""The steps of a story, one kind per cognitive function, and the people and wrong options in them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial

from headatlas.suites.chains.chain import Step
from headatlas.suites.chains.situations import MEN, WOMEN
from headatlas.suites.phrasing import shuffled

OPTIONS = 4
NEAR = 6  # how far a wrong number may be from the right one

Story = tuple[str, list[Step]]  # the question, and the steps that answer it

retrieve = partial(Step, task="Retrieval")
recall = partial(Step, task="Knowledge Recall")
mean = partial(Step, task="Semantic Understanding")
parse = partial(Step, task="Syntactic Understanding")
calculate = partial(Step, task="Math Calculation")
infer = partial(Step, task="Inference")
reason = partial(Step, task="Logical Reasoning")
decide = partial(Step, task="Decision-making")


def bare(text: str) -> str:
    """Without its article, so that an answer begins with the word that matters."""
    return text.removeprefix("a ").removeprefix("an ").removeprefix("the ")


def others(rng: random.Random, options: Sequence[str], answer: str) -> tuple[str, ...]:
    """Up to three options, in any order, that are not the answer."""
    return tuple(shuffled(rng, [option for option in dict.fromkeys(options) if option != answer])[: OPTIONS - 1])


def shown(rng: random.Random, numbers: Sequence[int], answer: int) -> tuple[str, ...]:
    """Wrong numbers for a number that the text shows: other numbers that it shows."""
    return others(rng, [str(n) for n in numbers], str(answer))


def near(rng: random.Random, answer: int) -> tuple[str, ...]:
    """Wrong numbers near a number that has been worked out, as often below it as above."""
    lower = [n for n in range(answer - NEAR, answer) if n > 0]
    below = min(rng.randrange(OPTIONS), len(lower))
    higher = range(answer + 1, answer + NEAR + 1)
    wrong = rng.sample(lower, below) + rng.sample(higher, OPTIONS - 1 - below)
    return tuple(str(n) for n in shuffled(rng, wrong))


def bounds(rng: random.Random, number: int) -> tuple[int, int, int]:
    """Two bounds, neither of them the number, and the number's band: below both, between them or above both."""
    band = rng.randrange(3)
    while True:
        low = number - rng.randint(1, NEAR) if band else number + rng.randint(1, NEAR)
        high = number - rng.randint(1, NEAR) if band == 2 else max(low, number) + rng.randint(2, NEAR)
        if 2 < low < high - 1:
            return low, high, band


def people(rng: random.Random, number: int) -> list[tuple[str, str]]:
    """Different names with their pronouns."""
    return rng.sample([(name, "he") for name in MEN] + [(name, "she") for name in WOMEN], number)


def person(rng: random.Random) -> tuple[str, str]:
    return people(rng, 1)[0]
