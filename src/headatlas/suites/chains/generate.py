"""Questions that take several steps: first what is found, known and understood, then what follows from it.

Each of twelve families (`stories`) tells one kind of situation, with several sets of content (`situations`). The
numbers, names, orders and outcomes are drawn, so that neither a word nor a position in the text gives an answer away.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count
from typing import TypeVar

from headatlas.errors import HeadAtlasError
from headatlas.suites.chains import situations
from headatlas.suites.chains.chain import Chain
from headatlas.suites.chains.stories.amounts import counting, duty, pronoun
from headatlas.suites.chains.stories.clues import implied_choice, implied_rule, need
from headatlas.suites.chains.stories.journeys import guide, kinds, trains
from headatlas.suites.chains.stories.offers import budget, order, quality
from headatlas.suites.chains.stories.steps import Story

TRIES = 12  # stories drawn for each chain
PATIENCE = 400  # chains in a row that may fail before the supply counts as used up

Teller = Callable[[random.Random], Story]
C = TypeVar("C")


def _sets(family: str, tell: Callable[[random.Random, C], Story], sets: Mapping[str, C]) -> list[tuple[str, Teller]]:
    """A group and its teller for each set of content."""
    return [(f"chains/{family}-{name}", partial(_told, tell, content)) for name, content in sets.items()]


def _told(tell: Callable[[random.Random, C], Story], content: C, rng: random.Random) -> Story:
    return tell(rng, content)


FAMILIES = (
    _sets("budget", budget, situations.BUDGET),
    _sets("implied-rule", implied_rule, situations.IMPLIED_RULE),
    _sets("counting", counting, situations.COUNTING),
    _sets("implied-choice", implied_choice, situations.IMPLIED_CHOICE),
    _sets("trains", trains, situations.TRAINS),
    _sets("quality", quality, situations.QUALITY),
    _sets("need", need, situations.NEED),
    _sets("pronoun", pronoun, situations.PRONOUN),
    _sets("guide", guide, situations.GUIDE),
    _sets("order", order, situations.ORDER),
    _sets("duty", duty, situations.DUTY),
    _sets("kinds", kinds, situations.KINDS),
)


def _turns() -> Iterator[tuple[str, Teller]]:
    """The families in turn, and within each its sets."""
    for turn in count():
        for groups in FAMILIES:
            yield groups[turn % len(groups)]


def generate(seed: int, n: int) -> list[Chain]:
    """`n` different chains; each is the one of several drawn stories whose answers have been used least."""
    rng = random.Random(f"chains/{seed}")
    used: Counter[tuple[str, str]] = Counter()
    questions: set[str] = set()
    chains: list[Chain] = []
    misses = 0
    for group, tell in _turns():
        if len(chains) == n:
            break
        new = [story for story in (tell(rng) for _ in range(TRIES)) if story[0] not in questions]
        if not new:
            misses += 1
            if misses > PATIENCE:
                raise HeadAtlasError(
                    f"{n} chains were asked for, but only {len(chains)} different ones could be generated. "
                    "Ask for a smaller `n`."
                )
            continue
        misses = 0
        question, steps = min(new, key=lambda story: sum(used[step.task, step.answer] for step in story[1]))
        questions.add(question)
        used.update((step.task, step.answer) for step in steps)
        chains.append(Chain(f"chain-{seed}-{len(chains):05d}", question, steps[-1].answer, tuple(steps), group))
    return chains
