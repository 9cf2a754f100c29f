"""Inference: what a text implies but does not say - a place, a cause, a consequence, a feeling, a need.

The answer is never in the prompt, so it cannot be retrieved, and no rule is given, so it cannot be derived formally:
it follows from what usually goes together with what is told. Every clue has a twin that differs in a few words and
implies something else.
"""

from __future__ import annotations

import random
import re

from headatlas.suites.cognitive.drafting import Draft, Maker, fill
from headatlas.suites.cognitive.inference_situations import KINDS, Kind
from headatlas.suites.example import Example

TASK = "Inference"

MEN = ("Tom", "Mark", "Jack", "Peter", "David", "Paul", "John", "James", "Robert", "Daniel", "George", "Henry")
WOMEN = ("Anna", "Lucy", "Emma", "Sarah", "Alice", "Mary", "Kate", "Julia", "Laura", "Helen", "Rachel", "Emily")
PEOPLE = MEN + WOMEN
HE = {"he": "he", "him": "him", "his": "his", "He": "He"}
SHE = {"he": "she", "him": "her", "his": "her", "He": "She"}
DISMISSALS = ("", "But that is another story. ", "But that is another story, and it does not matter here. ")
SLOT = re.compile(r"\[([^]|]*)(?:\|([^]]*))?]")


def side(clue: str, which: int) -> str:
    """The clue with the words of one side in its slots. A slot without a bar only marks what the text is about."""
    return SLOT.sub(lambda slot: slot[1] if which == 0 or slot[2] is None else slot[2], clue)


def _topic(clue: str) -> str:
    """The marked word that the text is about, if there is one."""
    return next((slot[1] for slot in SLOT.finditer(clue) if slot[2] is None), "")


def _maker(name: str, kind: Kind, form: int) -> Maker:
    """A maker for one kind and one form: 0 and 1 are statements to complete, 2 is a question."""
    template = f"{name}-{('stated', 'concluded', 'asked')[form]}"
    ending = f"{kind.question} Answer: {kind.reply}" if form == 2 else kind.stems[form]
    opening = "Question: " if form == 2 else ""
    # For every situation, plain and subtle: the thing it is about, and the text of its two sides.
    clues = [[(_topic(clue), side(clue, 0), side(clue, 1)) for clue in (s.plain, s.subtle)] for s in kind.situations]

    def make(rng: random.Random, level: int) -> Draft:
        number = rng.randrange(len(kind.situations))
        situation = kind.situations[number]
        person, other = rng.sample(PEOPLE, 2)
        subtle = level == 3 or (level == 2 and rng.random() < 0.5)
        topic, *sides = clues[number][subtle]
        words = {
            "n": person, "m": other, "d": rng.choice(situation.wrong), "t": topic,
            **(HE if person in MEN else SHE),
        }  # fmt: skip
        # The aside names a wrong word, so that a word's presence is no evidence for it.
        aside = kind.aside + " " if level == 3 or (level == 2 and not subtle) else ""
        aside += rng.choice(DISMISSALS) if level == 3 else ""

        def prompt(which: int) -> str:
            return f"{opening}{aside}{sides[which]} {ending}".format_map(words)

        which = rng.randrange(2)
        answer, twin_answer = situation.answers[which], situation.answers[1 - which]
        return Draft(
            prompt=prompt(which),
            answer=f" {answer}",
            distractors=tuple(f" {word}" for word in rng.sample((twin_answer, *situation.wrong), 3)),
            twin_prompt=prompt(1 - which),
            twin_answer=f" {twin_answer}",
            group=f"inference/{name}-{situation.answers[0]}-{situation.answers[1]}".lower(),
            template=template,
        )

    return make


MAKERS = tuple(_maker(name, kind, form) for form in range(3) for name, kind in KINDS.items())


def generate(seed: int, n: int, level: int) -> list[Example]:
    return fill(TASK, MAKERS, seed, n, level)
