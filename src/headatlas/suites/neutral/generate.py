"""Neutral text: the next word of a plain passage, as a control for heads that matter to everything.

Nothing has to be looked up, known, worked out or decided. A passage is cut before a noun. The wrong words have the same
form and about the same length, come from other fields of meaning, and do not occur in the passage. Prompts have the
lengths and the lead-ins of the cognitive functions.
"""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from typing import NamedTuple

from headatlas.errors import HeadAtlasError
from headatlas.suites.cognitive.drafting import LEAD_INS, LENGTHS, check_level
from headatlas.suites.example import Example
from headatlas.suites.neutral.passages import PASSAGES, WORDS

TASK = "Neutral"
CONTEXT = 45  # characters of a passage before a cut, at least
REPEAT = 10.0  # repeating a cut is as bad as missing the length by so many characters
WRONG = 3
JOINING = ("and", "but", "or", "when", "while", "where", "because", "so", "that", "who", "which", "until")
NEAREST = 4  # wrong words of each field to choose from: those nearest in length to the right one


class Cut(NamedTuple):
    """A cut in a passage: the text before it, from the first or a later sentence, and the right and wrong words."""

    before: str
    position: int  # of the right word in the passage
    word: str
    form: str
    wrong: tuple[tuple[str, ...], ...]  # some words of every other field


def _opens_clause(tokens: list[str], i: int) -> bool:
    """Whether at most an article or the like comes between the start of a clause and the word."""
    return any(token[0].isupper() or token[-1] in ",." or token in JOINING for token in (tokens[i - 1], tokens[i - 2]))


def _fitting(words: list[str], word: str, article: str, present: set[str]) -> tuple[str, ...]:
    """The words nearest in length to `word` that fit the article before it."""
    fitting = [w for w in words if w not in present]
    if article in ("a", "an"):
        fitting = [w for w in fitting if (w[0] in "aeiou") == (article == "an")]
    return tuple(sorted(fitting, key=lambda w: abs(len(w) - len(word)))[:NEAREST])


@cache
def cuts(passage: str) -> tuple[Cut, ...]:
    """All cuts of a passage. A word that opens a clause could be almost anything, so there is no cut before it."""
    forms = {w: (form, field) for form, fields in WORDS.items() for field, text in fields.items() for w in text.split()}
    tokens = passage.split()
    present = {token.strip(",.").lower() for token in tokens}
    starts = [0, *(i for i in range(1, len(tokens)) if tokens[i - 1].endswith("."))]
    passage_cuts = []
    for i, token in enumerate(tokens):
        word = token.rstrip(",.")
        if word not in forms or _opens_clause(tokens, i):
            continue
        form, field = forms[word]
        other_fields = [text.split() for other, text in WORDS[form].items() if other != field]
        wrong = [_fitting(words, word, tokens[i - 1], present) for words in other_fields]
        texts = (" ".join(tokens[start:i]) for start in starts if start < i)
        passage_cuts += [Cut(text, i, word, form, tuple(filter(None, wrong))) for text in texts if len(text) >= CONTEXT]
    return tuple(passage_cuts)


def generate(seed: int, n: int, level: int = 1) -> list[Example]:
    """`n` different examples, the passages in turn. A pure function of its arguments."""
    check_level(level)
    rng = random.Random(f"{TASK}/{seed}/{level}")
    turns: list[int] = []
    used: Counter[tuple[int, int]] = Counter()
    prompts: set[str] = set()
    examples: list[Example] = []
    while len(examples) < n:
        turns = turns or rng.sample(range(len(PASSAGES)), len(PASSAGES))
        number = turns.pop()
        target = rng.gauss(*LENGTHS[level])
        free = [
            (abs(len(prompt) - target) + REPEAT * used[number, cut.position], prompt, cut)
            for cut in cuts(PASSAGES[number])
            for lead_in in LEAD_INS
            if (prompt := f"{lead_in} {cut.before}".strip()) not in prompts
        ]
        if not free:
            raise HeadAtlasError(
                f"{n} examples of {TASK} were asked for, but only {len(examples)} different ones could be generated. "
                "Ask for a smaller `n`."
            )
        _, prompt, cut = min(free)
        used[number, cut.position] += 1
        prompts.add(prompt)
        examples.append(
            Example(
                id=f"neutral-{level}-{seed}-{len(examples):05d}",
                task=TASK,
                prompt=prompt,
                answer=f" {cut.word}",
                distractors=tuple(f" {rng.choice(words)}" for words in rng.sample(cut.wrong, WRONG)),
                group=f"neutral/passage-{number:02d}",
                template=f"next-{cut.form}",
                level=level,
            )
        )
    return examples
