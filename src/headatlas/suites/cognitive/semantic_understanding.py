"""Semantic understanding: the answer follows from what common words mean, alone or in a sentence.

Synonyms, opposites, kinds, definitions, words that belong together or do not, and the meaning of an ambiguous word in
its sentence. No facts about the world beyond the words are asked for. Where the answer is in the prompt, it is among
the wrong options, so that finding it takes its meaning and not its position.
"""

from __future__ import annotations

import random

from headatlas.suites.cognitive.drafting import Draft, Maker, fill
from headatlas.suites.cognitive.semantic_words import (
    BUNDLES,
    COMMON_SENSES,
    DEFINITIONS,
    SCALES,
    SENSES,
    TOPIC_FIELDS,
    Definition,
    Scale,
)
from headatlas.suites.example import Example
from headatlas.suites.phrasing import joined

TASK = "Semantic Understanding"

NAMES = (
    "Anna", "Tom", "Lucy", "Mark", "Ella", "Jack", "Sarah", "Ben", "Alice", "David", "Mary", "Paul", "Kate", "Sam",
)  # fmt: skip
TIERS = {1: (0,), 2: (0, 1), 3: (1, 2)}
QUESTIONS = 0.36  # of the drafts have the question form

# Sentences before an item; {a}, {b} and {c} are people. They say nothing about the words that count.
SCENES = {
    1: ("", "{a} reads this to {b}.", "{a} and {b} are doing a quiz."),
    2: (
        "{a} and {b} are doing a quiz.",
        "{a} has made a quiz for {b} and for the class.",
        "{a} and {b} are doing a quiz after school. This is the first card.",
        "{a} and {b} are learning at home for a test at school, and this is a part of it.",
    ),
    3: (
        "{a}, {b} and {c} are learning at home for a test, and they take turns.",
        "{a} and {b} are doing a long quiz after school, and {c} is reading the cards to them.",
        "{a} and {b} are doing a quiz that {c} has made for them. They have done half of the cards by now.",
        "{a}, {b} and {c} are doing a long quiz on the train. They have plenty of time, and this is the next card.",
    ),
}

SCALE_POOLS = {level: tuple(scale for tier in tiers for scale in SCALES[tier]) for level, tiers in TIERS.items()}
DEFINITION_POOLS = {level: tuple(d for tier in tiers for d in DEFINITIONS[tier]) for level, tiers in TIERS.items()}
SENSE_POOLS = {1: SENSES[:COMMON_SENSES], 2: SENSES, 3: SENSES}
# Which members of a category a level uses: common ones, all, or the rarer ones.
MEMBERS = {1: slice(0, 4), 2: slice(1, 6), 3: slice(3, 7)}
# For each scale the scales of the level that have nothing to do with it.
FAR_SCALES = {
    level: {scale.name: tuple(other for other in pool if other.field != scale.field) for scale in pool}
    for level, pool in SCALE_POOLS.items()
}
FIELD_OF_TOPIC = {topic: field for field, topics in TOPIC_FIELDS.items() for topic in topics}


def _scene(rng: random.Random, level: int) -> str:
    a, b, c = rng.sample(NAMES, 3)
    scene = rng.choice(SCENES[level]).format(a=a, b=b, c=c)
    return scene + " " if scene else ""


def _draft(
    name: str, asks: bool, group: str, prompts: tuple[str, str], answers: tuple[str, str], wrong: list[str]
) -> Draft:
    """The draft for an item and its twin: their prompts, their answers, and the wrong options of the item."""
    return Draft(
        prompt=prompts[0],
        answer=f" {answers[0]}",
        distractors=tuple(f" {word}" for word in wrong),
        twin_prompt=prompts[1],
        twin_answer=f" {answers[1]}",
        group=f"semantic-understanding/{group}",
        template=f"{name}-question" if asks else name,
    )


def _far_words(rng: random.Random, scale: Scale, level: int) -> list[str]:
    """Two words from scales that have nothing to do with this one."""
    return [rng.choice(rng.choice(other.words)) for other in rng.sample(FAR_SCALES[level][scale.name], 2)]


# Wordings by what is asked and by whether it is a question; {w} is the word and {s} what is said to be so.
# Most show what is wanted with words of no scale: small models else take opposites and synonyms for one another.
SCALE_WORDINGS = {
    ("synonym", True): (
        "What is another word for {w}?",
        "What is another word for start? Answer: begin. Question: What is another word for {w}?",
    ),
    ("synonym", False): (
        "The {s} was {w}. In other words, the {s} was",
        "To start is to begin, and to be {w} is to be",
        "Another word for start is begin, and another word for {w} is",
    ),
    ("opposite", True): (
        "What is the opposite of {w}?",
        "What is the opposite of up? Answer: down. Question: What is the opposite of {w}?",
    ),
    ("opposite", False): (
        "The opposite of up is down, and the opposite of {w} is",
        "Up is the opposite of down, and {w} is the opposite of",
        "Up is the opposite of down. If the {s} was not {w} but the opposite, the {s} was",
    ),
}


def _scale_draft(rng: random.Random, level: int, asked_for: str) -> Draft:
    """Ask for the synonym or for an opposite of a word; the twin asks it of a word from the other end of the scale."""
    scale = rng.choice(SCALE_POOLS[level])
    ends = [list(rng.sample(end, 2)) for end in rng.sample(scale.words, 2)]
    (word, partner), (opposite, opposite_partner) = ends
    if asked_for == "synonym":
        answer, twin, twin_answer = partner, opposite, opposite_partner
    else:
        answer, twin, twin_answer = opposite, opposite_partner, partner
    wrong = [twin_answer, *_far_words(rng, scale, level)]
    rng.shuffle(wrong)
    shown = rng.sample([answer, *wrong], 4)
    choice = f"The words to choose from are {joined(shown)}. " if level == 3 else ""
    subject = rng.choice(scale.subjects)
    asks = rng.random() < QUESTIONS
    wording = rng.choice(SCALE_WORDINGS[asked_for, asks])
    before = _scene(rng, level) + choice

    def prompt(asked: str) -> str:
        text = wording.format(w=asked, s=subject)
        return before + (f"Question: {text} Answer:" if asks else text)

    prompts, answers = (prompt(word), prompt(twin)), (answer, twin_answer)
    return _draft(asked_for, asks, scale.name, prompts, answers, wrong)


def synonym(rng: random.Random, level: int) -> Draft:
    """A word in a sentence; ask for the other word that means the same."""
    return _scale_draft(rng, level, "synonym")


def opposite(rng: random.Random, level: int) -> Draft:
    """A word in a sentence; ask for a word that means the opposite."""
    return _scale_draft(rng, level, "opposite")


def definition(rng: random.Random, level: int) -> Draft:
    """A description; ask for the word it describes. The twin changes one part of the description."""
    entry: Definition = rng.choice(DEFINITION_POOLS[level])
    phrases = list(entry.words)
    phrase = rng.choice(phrases)
    twin = rng.choice([p for p in phrases if p != phrase and len(p.split()) == len(phrase.split())])
    wrong = [entry.words[twin], *rng.sample([entry.words[p] for p in phrases if p not in (phrase, twin)], 2)]
    rng.shuffle(wrong)
    asks = rng.random() < QUESTIONS
    shown = rng.sample([entry.words[phrase], *wrong], 4)
    choice = f"The words to choose from are {joined(shown)}. " if level == 3 else ""
    opening = rng.choice(("It is clear that ", "People agree that ", "The book says that ", "As we say, "))
    before = _scene(rng, level) + choice

    def prompt(filling: str) -> str:
        if asks:
            return f"{before}Question: {entry.question.format(filling)} Answer:"
        return before + opening + entry.statement.format(filling)

    prompts, answers = (prompt(phrase), prompt(twin)), (entry.words[phrase], entry.words[twin])
    return _draft("definition", asks, f"defining-{entry.name}", prompts, answers, wrong)


def sense_in_context(rng: random.Random, level: int) -> Draft:
    """A word with two meanings in a sentence; ask what it is about. At level 3 both meanings are in the prompt."""
    sense = rng.choice(SENSE_POOLS[level])
    first = rng.randrange(2)
    topic, twin_topic = sense.topics[first], sense.topics[1 - first]
    near = (FIELD_OF_TOPIC[topic], FIELD_OF_TOPIC[twin_topic])
    far_fields = rng.sample([field for field in TOPIC_FIELDS if field not in near], 2)
    wrong = [twin_topic, *(rng.choice(TOPIC_FIELDS[field]) for field in far_fields)]
    rng.shuffle(wrong)
    asks = rng.random() < QUESTIONS
    a, b = rng.sample(NAMES, 2)
    scene = _scene(rng, level) if level < 3 else rng.choice(("", f"The word {sense.word} has several meanings. "))
    order = rng.sample((0, 1), 2)
    writers = {order[0]: a, order[1]: b}
    both = " ".join(f'{writers[i]} wrote: "{sense.sentences[i]}"' for i in order)

    def prompt(which: int) -> str:
        text = both if level == 3 else sense.sentences[which]
        where = f"in the sentence by {writers[which]}" if level == 3 else "here"
        if asks:
            return f'{scene}{text} Question: What does the word "{sense.word}" have to do with {where}? Answer:'
        return f'{scene}{text} The word "{sense.word}" {where} has to do with'

    prompts, answers = (prompt(first), prompt(1 - first)), (topic, twin_topic)
    return _draft("sense-in-context", asks, f"sense-{sense.word}", prompts, answers, wrong)


def _bundle(rng: random.Random, level: int) -> tuple[str, list[str], list[list[str]]]:
    """A group name, its four kinds in random order, and for each kind four words of the level."""
    index = rng.randrange(len(BUNDLES))
    kinds = list(BUNDLES[index])
    rng.shuffle(kinds)
    words = [rng.sample(BUNDLES[index][kind][MEMBERS[level]], 4) for kind in kinds]
    return f"kinds-{'-'.join(BUNDLES[index])}", kinds, words


def kind_of(rng: random.Random, level: int) -> Draft:
    """A word; ask of what kind it is. The twin is a word of another kind."""
    group, kinds, words = _bundle(rng, level)
    shown = rng.sample(kinds, 4)
    choice = f"The kinds to choose from are {joined(shown)}. " if level == 3 else ""
    asks = rng.random() < QUESTIONS
    wording = rng.choice(
        ('Which kind of thing do people mean when they say "{}"?', 'What kind of thing does the word "{}" name?')
        if asks
        else ('The word "{}" is the name of a kind of', 'When people say "{}", they talk about a kind of')
    )
    before = _scene(rng, level) + choice

    def prompt(word: str) -> str:
        return before + (f"Question: {wording.format(word)} Answer:" if asks else wording.format(word))

    prompts, answers = (prompt(words[0][0]), prompt(words[1][0])), (kinds[0], kinds[1])
    return _draft("kind-of", asks, group, prompts, answers, kinds[1:])


def member_of(rng: random.Random, level: int) -> Draft:
    """A list with one word of each kind; ask for the word of one kind. The twin asks for another kind."""
    group, kinds, words = _bundle(rng, level)
    shown = rng.sample([members[0] for members in words], 4)
    asks = rng.random() < QUESTIONS
    before = f"{_scene(rng, level)}The words on the card are {joined(shown)}."

    def prompt(kind: str) -> str:
        if asks:
            return f"{before} Question: Which of the words means a kind of {kind}? Answer:"
        return f"{before} The word that means a kind of {kind} is"

    prompts, answers = (prompt(kinds[0]), prompt(kinds[1])), (words[0][0], words[1][0])
    return _draft("member-of", asks, group, prompts, answers, [members[0] for members in words[1:]])


def belongs_with(rng: random.Random, level: int) -> Draft:
    """Words of one kind; ask for one more. The twin begins with words of another kind."""
    group, _, words = _bundle(rng, level)
    asks = rng.random() < QUESTIONS
    given = 2 if level == 1 else 3
    shown = rng.sample([members[3] for members in words], 4)
    choice = f"The words to choose from are {joined(shown)}. " if level == 3 else ""
    before = _scene(rng, level) + choice

    def prompt(members: list[str]) -> str:
        listed = joined(members[:given])
        if asks:
            return f"{before}Question: The words {listed} belong together. Which word belongs with them? Answer:"
        return f"{before}The words {listed} belong together. One more word that belongs with them is"

    prompts, answers = (prompt(words[0]), prompt(words[1])), (words[0][3], words[1][3])
    return _draft("belongs-with", asks, group, prompts, answers, [members[3] for members in words[1:]])


def odd_one_out(rng: random.Random, level: int) -> Draft:
    """Words of one kind and one of another; ask for the other. The twin reverses the majority."""
    group, _, words = _bundle(rng, level)
    main, other = words[0], words[1]
    places = rng.sample(range(4), 4)

    def listed(first: list[str], second: list[str]) -> list[str]:
        row = [*first, *second]
        return [row[i] for i in places]

    shown = listed(main[:3], other[:1])
    twin_shown = listed(main[:1], [other[1], other[2], other[0]])
    asks = rng.random() < QUESTIONS
    before = _scene(rng, level)

    def prompt(row: list[str]) -> str:
        if asks:
            return f"{before}Question: Which of the words {joined(row)} does not belong with the others? Answer:"
        return f"{before}Of the words {joined(row)}, the one that does not belong with the others is"

    prompts, answers = (prompt(shown), prompt(twin_shown)), (other[0], main[0])
    return _draft("odd-one-out", asks, group, prompts, answers, [word for word in shown if word != other[0]])


# Scales, senses and definitions come twice: they have many more groups than the bundles of kinds.
COMMON: tuple[Maker, ...] = (
    synonym, kind_of, opposite, sense_in_context, member_of, definition,
    synonym, belongs_with, opposite, sense_in_context, definition,
)  # fmt: skip
# To say which word does not belong takes a comparison of all of them, too much to ask at level 1.
MAKERS = {1: COMMON, 2: (*COMMON, odd_one_out), 3: (*COMMON, odd_one_out)}


def generate(seed: int, n: int, level: int) -> list[Example]:
    return fill(TASK, MAKERS.get(level, ()), seed, n, level)
