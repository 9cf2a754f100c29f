"""Turning drafts into examples: distinct, balanced in their answers, and matched in length.

A generator supplies makers: functions of a random generator and a level that return one `Draft`. `fill` calls them in
turn. For every example it takes the draft and the lead-in whose length, in characters, words and tokens, comes nearest
to a length drawn from a distribution that all functions share. Length and answer frequency then say little about the
function.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from headatlas.errors import HeadAtlasError, UsageError
from headatlas.stats import Array
from headatlas.suites.example import Example, Twin


@dataclass(frozen=True)
class Draft:
    """One item before its lead-in. Prompts end without a space; answers and distractors begin with one."""

    prompt: str
    answer: str
    distractors: tuple[str, ...]
    twin_prompt: str
    twin_answer: str
    group: str
    template: str


Maker = Callable[[random.Random, int], Draft]

# Prompt length in characters, by level: mean and standard deviation.
LENGTHS = {1: (117.0, 9.0), 2: (170.0, 16.0), 3: (260.0, 26.0)}

CHARACTERS_PER_WORD = 5.0  # of the whole prompt, spaces included
CHARACTERS_PER_PIECE = {1: 3.9, 2: 4.3, 3: 4.4}  # by level: longer texts have fewer symbols
# Roughly the tokens of any tokenizer: words, symbols, single digits, and the space before a number.
PIECES = re.compile(r" (?=\d)|\d|[^\W\d]+|[^\w\s]")

# Sentences that say nothing about any function; they only change the length. With short words, long words and symbols
# to choose from, a prompt can have a given number of characters, of words and of tokens at once.
LEAD_INS = (
    "",
    "Read on.",
    "Read this.",
    "Well, read on.",
    "Now, then: read on.",
    "Once more, then: read on.",
    "Well, once more: read on, please.",
    "So, as before, please: read on.",
    "Now, as ever, one by one: read on.",
    "Well, then, as before: read on, please.",
    "So, once more, and slowly, please: read on.",
    "Well, then, once again, as ever: read on, please.",
    "So let us go on.",
    "Now let us go on to it.",
    "It is up to us to go on now.",
    "Let us go on to it as we did by now.",
    "If it is up to us, we can go on to it now.",
    "Slowly, please.",
    "Continue, please: slowly.",
    "Patiently, please: continue.",
    "Continue, please: patiently, slowly.",
    "Continue, please: patiently, attentively.",
    "Slowly, patiently, attentively: continue, please.",
    "Continue, please: attentively, patiently, carefully.",
    "Continue here.",
    "Continue reading.",
    "Another paragraph:",
    "Something different:",
    "Continue reading here.",
    "Consider something else.",
    "Another paragraph follows.",
    "Another paragraph follows below.",
    "Something different follows here.",
    "Another paragraph follows directly.",
    "Another interesting paragraph follows.",
    "Something completely different follows.",
    "Another interesting paragraph continues here.",
    "Another interesting paragraph follows directly.",
    "Something completely different follows afterwards.",
    "Another particularly interesting paragraph follows.",
    "Here is one more.",
    "Please read this now.",
    "Here is the next short text.",
    "Take your time with this one.",
    "This is a short text to be read.",
    "Please read the next lines with care.",
    "Here is a short text from a small book.",
    "The next lines come from a book for school.",
    "This is one of many short texts on this page.",
    "Please read the whole text before you go on to more.",
    "Here is another short text that was kept in the same box.",
    "What follows is a short text, and it is best to read it twice.",
    "What follows is one of the short texts that we found in an old box.",
)

MOST_FREQUENT = 0.07  # of the examples of a task may share one answer
TRIES = 24  # drafts to choose from for each example
MOST_OWED = 30.0  # characters, or their worth, that one example makes good for earlier ones
PATIENCE = 400  # failures in a row before the supply counts as used up


def check_level(level: int) -> None:
    """Refuse a level of difficulty that does not exist."""
    if level not in LENGTHS:
        raise UsageError(f"Level {level} was asked for, but `level` must be one of {', '.join(map(str, LENGTHS))}.")


def fill(task: str, makers: Sequence[Maker], seed: int, n: int, level: int) -> list[Example]:
    """`n` distinct examples of `task`, the makers in turn. A pure function of its arguments."""
    check_level(level)
    rng = random.Random(f"{task}/{seed}/{level}")
    slug = task.lower().replace(" ", "-")
    cap = max(2, int(MOST_FREQUENT * n))
    answers: Counter[str] = Counter()
    groups: Counter[str] = Counter()
    prompts: set[str] = set()
    examples: list[Example] = []
    owed = np.zeros(3)  # characters, words and pieces by which earlier examples were too short
    slot = misses = 0
    while len(examples) < n:
        wanted = rng.gauss(*LENGTHS[level]) / _WORTH[level]
        drafts = [makers[slot % len(makers)](rng, level) for _ in range(TRIES)]
        free = [draft for draft in drafts if draft.prompt not in prompts and answers[draft.answer] < cap]
        best = _nearest(_rarest(free, groups), wanted + owed, _WORTH[level])
        slot += 1
        if best is None:
            misses += 1
            if misses > PATIENCE:
                raise HeadAtlasError(
                    f"{n} examples of {task} at level {level} were asked for, but only {len(examples)} different ones "
                    "with balanced answers could be generated. Ask for a smaller `n`."
                )
            continue
        misses = 0
        draft, lead_in = best
        opening = lead_in + " " if lead_in else ""
        short = wanted + owed - _size(opening + draft.prompt)
        owed = np.clip(short, -MOST_OWED / _WORTH[level], MOST_OWED / _WORTH[level])
        prompts.add(draft.prompt)
        answers[draft.answer] += 1
        groups[draft.group] += 1
        examples.append(
            Example(
                id=f"{slug}-{level}-{seed}-{len(examples):05d}",
                task=task,
                prompt=opening + draft.prompt,
                answer=draft.answer,
                distractors=draft.distractors,
                counterfactual=Twin(prompt=opening + draft.twin_prompt, answer=draft.twin_answer),
                group=draft.group,
                template=draft.template,
                level=level,
            )
        )
    return examples


def _size(text: str) -> tuple[int, int, int]:
    """Characters, words and pieces."""
    return len(text), len(text.split()), len(PIECES.findall(text))


_LEAD_IN_SIZES = np.array([_size(lead_in + " " if lead_in else "") for lead_in in LEAD_INS], dtype=float)
# A word and a piece count for as many characters as they have on average, so that no length matters more than another.
_WORTH = {level: np.array([1.0, CHARACTERS_PER_WORD, piece]) for level, piece in CHARACTERS_PER_PIECE.items()}


def _rarest(drafts: list[Draft], groups: Counter[str]) -> list[Draft]:
    """The drafts whose groups have the fewest examples so far: the more equal the groups, the more they tell."""
    fewest = min((groups[draft.group] for draft in drafts), default=0)
    return [draft for draft in drafts if groups[draft.group] == fewest]


def _nearest(drafts: list[Draft], wanted: Array, worth: Array) -> tuple[Draft, str] | None:
    """The draft and the lead-in that together come nearest to the wanted characters, words and pieces."""
    if not drafts:
        return None
    sizes = np.array([_size(draft.prompt) for draft in drafts], dtype=float)
    missing = wanted - sizes[:, None] - _LEAD_IN_SIZES
    draft, lead_in = divmod(int((np.abs(missing) @ worth).round(6).argmin()), len(LEAD_INS))
    return drafts[draft], LEAD_INS[lead_in]
