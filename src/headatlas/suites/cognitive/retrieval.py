"""Retrieval: the answer is in the prompt and has to be found there; nothing has to be known or worked out.

Every prompt binds keys to values in a way that no knowledge of the world suggests, and asks for the value of one key.
All wrong options are values of other keys in the same prompt, and the right value can be anywhere among them, so that
neither frequency nor position gives the answer. In some templates the key comes right before its value ("the red map"),
in the others the two are apart in a sentence ("the map is in the hall"). Levels 1 and 2 have 3 to 5 values; level 3 has
6 values under double keys ("the big red map", "in the hall today"), so that half a key leads to a wrong value as well.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from headatlas.suites.cognitive.drafting import Draft, fill
from headatlas.suites.cognitive.retrieval_words import (
    COLOURS,
    DEEDS,
    FILLERS,
    LOCKS,
    NAMES,
    NATIONS,
    OCCASIONS,
    PLACES,
    QUALITIES,
    ROOMS,
    SCENES,
    SEASONS,
    SIZES,
    THINGS,
    TRAITS,
)
from headatlas.suites.example import Example
from headatlas.suites.phrasing import capital

TASK = "Retrieval"
FACTS = {1: 4, 2: 5, 3: 6}
FEWER = {1: 3, 2: 4, 3: 6}  # for wordings that need more letters
OPTIONS = 4
QUESTION = "Question: Which is {apart}? Answer: the {key}"
VERBS = ("has", "needs", "wants", "gets")

Key = tuple[str, str]  # a word, and what makes the key double at level 3: an occasion, a size or a person
Write = Callable[[Sequence[str], Key], str]  # the prompt for these values and this asked key


def _keys(rng: random.Random, count: int, words: Sequence[str], doubles: Sequence[str]) -> list[Key]:
    """`count` keys in any order; with two doubles, every word comes with both."""
    keys = [(word, double) for word in rng.sample(words, count // len(doubles)) for double in doubles]
    rng.shuffle(keys)
    return keys


def _things(rng: random.Random) -> tuple[str, tuple[str, ...]]:
    """A set of things and its group."""
    i = rng.randrange(len(THINGS))
    return f"retrieval/things-{i}", THINGS[i]


def _draft(
    rng: random.Random, template: str, group: str, keys: Sequence[Key], values: Sequence[str], write: Write
) -> Draft:
    """Ask for one value; in the twin either two values are exchanged or another key is asked for."""
    asked, *others = rng.sample(range(len(keys)), min(OPTIONS, len(keys)))
    other = others[0]
    swapped = list(values)
    swapped[asked], swapped[other] = values[other], values[asked]
    return Draft(
        prompt=write(values, keys[asked]),
        answer=f" {values[asked]}",
        distractors=tuple(f" {values[i]}" for i in others),
        twin_prompt=write(swapped, keys[asked]) if rng.random() < 0.5 else write(values, keys[other]),
        twin_answer=f" {values[other]}",
        group=group,
        template=template,
    )


def _told_apart(rng: random.Random, level: int, template: str, words: Sequence[str], ask: bool = False) -> Draft:
    """A list of things that differ by the word before them, then perhaps sentences that do not matter."""
    group, things = _things(rng)
    keys = _keys(rng, (FEWER if ask else FACTS)[level], words, rng.choice(SIZES) if level == 3 else ("",))
    opening, closing = rng.choice(SCENES)
    ending = QUESTION if ask else closing.format(name=rng.choice(NAMES)) + " {key}"
    fillers = rng.sample(FILLERS, level - 1)

    def write(values: Sequence[str], key: Key) -> str:
        *items, last = [f"the {size}{word} {value}" for (word, size), value in zip(keys, values, strict=True)]
        asked = ending.format(key=key[1] + key[0], apart=key[1].replace(" ", " and ") + key[0])
        return " ".join([opening, ", ".join(items), f"and {last}.", *fillers, asked])

    return _draft(rng, template, group, keys, rng.sample(things, len(keys)), write)


def _sentences(keys: Sequence[Key], fact: str, question: str) -> Write:
    """A sentence for each key; `fact` and `question` are formats with the fields key, double and value."""

    def write(values: Sequence[str], key: Key) -> str:
        facts = [fact.format(key=k, double=d, value=v) for (k, d), v in zip(keys, values, strict=True)]
        return " ".join(capital(text) for text in (*facts, question.format(key=key[0], double=key[1])))

    return write


def _find_thing(rng: random.Random, count: int, template: str, words: Sequence[str], fact: str, question: str) -> Draft:
    """The keys are any words, the values are the things of one set."""
    group, things = _things(rng)
    keys = _keys(rng, count, words, rng.choice(OCCASIONS) if count == FACTS[3] else ("",))
    return _draft(rng, template, group, keys, rng.sample(things, len(keys)), _sentences(keys, fact, question))


def _find_by_thing(
    rng: random.Random, level: int, template: str, words: Sequence[str], fact: str, question: str
) -> Draft:
    """The keys are the things of one set, the values are any words."""
    group, things = _things(rng)
    keys = _keys(rng, FEWER[level], things, rng.choice(OCCASIONS) if level == 3 else ("",))
    return _draft(rng, template, group, keys, rng.sample(words, len(keys)), _sentences(keys, fact, question))


def colour(rng: random.Random, level: int) -> Draft:
    """Things told apart by colour."""
    return _told_apart(rng, level, "colour", COLOURS)


def nation(rng: random.Random, level: int) -> Draft:
    """Things told apart by the country they come from."""
    return _told_apart(rng, level, "nation", NATIONS)


def place(rng: random.Random, level: int) -> Draft:
    """Things told apart by the place they are for."""
    return _told_apart(rng, level, "place", PLACES)


def season(rng: random.Random, level: int) -> Draft:
    """Things told apart by the time they are for."""
    return _told_apart(rng, level, "season", SEASONS)


def quality(rng: random.Random, level: int) -> Draft:
    """Things told apart by what they are like."""
    return _told_apart(rng, level, "quality", QUALITIES)


def ask_colour(rng: random.Random, level: int) -> Draft:
    """Things told apart by colour, as a question."""
    return _told_apart(rng, level, "ask-colour", COLOURS, ask=True)


def ask_nation(rng: random.Random, level: int) -> Draft:
    """Things told apart by the country they come from, as a question."""
    return _told_apart(rng, level, "ask-nation", NATIONS, ask=True)


def ask_quality(rng: random.Random, level: int) -> Draft:
    """Things told apart by what they are like, as a question."""
    return _told_apart(rng, level, "ask-quality", QUALITIES, ask=True)


def thing_of_owner(rng: random.Random, level: int) -> Draft:
    """Who has what: find the thing."""
    question = "{key} has the" if level == 1 else "the thing that {key} has{double} is the"
    return _find_thing(rng, FACTS[level], "thing-of-owner", NAMES, "{key} has the {value}{double}.", question)


def owner_of_thing(rng: random.Random, level: int) -> Draft:
    """Who has what: find the person."""
    verb = rng.choice(VERBS)
    fact, question = f"{{value}} {verb} the {{key}}{{double}}.", f"the person who {verb} the {{key}}{{double}} is"
    return _find_by_thing(rng, level, "owner-of-thing", NAMES, fact, question)


def ask_thing(rng: random.Random, level: int) -> Draft:
    """Who has what, as a question for the thing."""
    fact, question = "{key} has the {value}{double}.", "Question: What does {key} have{double}? Answer: {key} has the"
    return _find_thing(rng, FEWER[level], "ask-thing", NAMES, fact, question)


def ask_room(rng: random.Random, level: int) -> Draft:
    """What is where, as a question for the room."""
    fact, question = "the {key} is in the {value}{double}.", "Question: Where is the {key}{double}? Answer:"
    return _find_by_thing(rng, level, "ask-room", ROOMS, fact, question)


def code_word(rng: random.Random, level: int) -> Draft:
    """Code words for several locks."""
    fact, question = "the {key} code{double} is {value}.", "the {key} code{double} is"
    return _find_thing(rng, FEWER[level], "code-word", LOCKS, fact, question)


def deed(rng: random.Random, level: int) -> Draft:
    """One person (two at level 3) does something different with each thing."""
    group, things = _things(rng)
    keys = _keys(rng, FEWER[level], DEEDS, rng.sample(NAMES, 2 if level == 3 else 1))
    write = _sentences(keys, "{double} {key} the {value}.", "the thing that {double} {key} was the")
    return _draft(rng, "deed", group, keys, rng.sample(things, len(keys)), write)


def trait(rng: random.Random, level: int) -> Draft:
    """A property of one person among several (of their relatives at level 3)."""
    i = rng.randrange(len(TRAITS))
    phrase, values = TRAITS[i]
    keys = _keys(rng, FACTS[level], NAMES, ("'s sister", "'s brother") if level == 3 else ("",))
    write = _sentences(keys, f"{{key}}{{double}} {phrase} {{value}}.", f"{{key}}{{double}} {phrase}")
    return _draft(rng, "trait", f"retrieval/trait-{i}", keys, rng.sample(values, len(keys)), write)


MAKERS = (
    colour, ask_nation, owner_of_thing, place, ask_quality, code_word, season, thing_of_owner, ask_colour, deed,
    quality, ask_room, nation, trait, ask_thing,
)  # fmt: skip


def generate(seed: int, n: int, level: int) -> list[Example]:
    return fill(TASK, MAKERS, seed, n, level)
