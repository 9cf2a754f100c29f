"""Turning drafts into examples: distinct, balanced in their answers, and matched in length.

A generator supplies makers: functions of a random generator and a level that return one `Draft`. `fill` calls them in
turn, and for every slot keeps the draft whose length comes nearest to a length drawn from a distribution that all
functions share. Length and answer frequency then say nothing about the function.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headatlas.errors import HeadAtlasError
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
LENGTHS = {1: (112.0, 9.0), 2: (170.0, 16.0), 3: (260.0, 26.0)}

# Sentences that mean nothing for any function; they only move the length.
LEAD_INS = (
    "",
    "Read this.",
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
TRIES = 12  # drafts looked at for each slot
PATIENCE = 400  # slots in a row that may fail before we say that the supply is used up


def fill(task: str, makers: Sequence[Maker], seed: int, n: int, level: int) -> list[Example]:
    """`n` distinct examples of `task`, the makers in turn. A pure function of its arguments."""
    if level not in LENGTHS:
        raise HeadAtlasError(f"Level {level} was asked for; there are levels {', '.join(map(str, LENGTHS))}.")
    rng = random.Random(f"{task}/{seed}/{level}")
    slug = task.lower().replace(" ", "-")
    cap = max(2, int(MOST_FREQUENT * n))
    answers: Counter[str] = Counter()
    prompts: set[str] = set()
    examples: list[Example] = []
    slot = misses = 0
    while len(examples) < n:
        target = rng.gauss(*LENGTHS[level])
        best = _nearest([makers[slot % len(makers)](rng, level) for _ in range(TRIES)], target, prompts, answers, cap)
        slot += 1
        if best is None:
            misses += 1
            if misses > PATIENCE:
                raise HeadAtlasError(
                    f"{task} at level {level} has {len(examples)} distinct examples with balanced answers; "
                    f"{n} were asked for. Ask for fewer."
                )
            continue
        misses = 0
        draft, lead_in = best
        opening = lead_in + " " if lead_in else ""
        prompts.add(draft.prompt)
        answers[draft.answer] += 1
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


def _nearest(
    drafts: list[Draft], target: float, used: set[str], answers: Counter[str], cap: int
) -> tuple[Draft, str] | None:
    """The unused draft and lead-in whose length together is nearest to the target."""
    free = [d for d in drafts if d.prompt not in used and answers[d.answer] < cap]
    pairs = [(abs(len(d.prompt) + len(lead) + bool(lead) - target), i, d, lead)
             for i, d in enumerate(free) for lead in LEAD_INS]  # fmt: skip
    if not pairs:
        return None
    _, _, draft, lead_in = min(pairs, key=lambda pair: (pair[0], pair[1]))
    return draft, lead_in
