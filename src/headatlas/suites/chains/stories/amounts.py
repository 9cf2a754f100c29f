"""Stories in which an amount is worked out, and a rule with two bounds says what it earns."""

from __future__ import annotations

import random

from headatlas.suites.chains.situations import MEN, WOMEN, Collection, Duty, Known
from headatlas.suites.chains.stories.steps import (
    Story,
    bounds,
    calculate,
    mean,
    near,
    others,
    parse,
    person,
    reason,
    recall,
    retrieve,
    shown,
)
from headatlas.suites.phrasing import joined, shuffled


def counting(rng: random.Random, known: Known) -> Story:
    """How many parts some things have together, and which prize there is for that."""
    n, he = person(rng)
    things = rng.randint(2, 12)
    total = things * known.number
    low, high, band = bounds(rng, total)
    prizes = shuffled(rng, known.prizes)
    question = (
        f"In a quiz, {n} has to say how many {known.parts} {things} {known.many} have, and {he} is right. The prize "
        f"for a number below {low} is a {prizes[0]}, for a number from {low} to {high} a {prizes[1]}, and for a number "
        f"above {high} a {prizes[2]}. What does {n} win?"
    )
    wrong = others(rng, [str(k) for k in range(2, 13) if k != known.number], "")
    return question, [
        retrieve(
            f"How many {known.many} is {n} asked about?", str(things),
            distractors=shown(rng, [low, high, things + rng.choice((-1, 1))], things),
        ),
        recall(f"How many {known.parts} does one {known.one} have?", str(known.number), distractors=wrong),
        calculate(f"How many {known.parts} do these {known.many} have in all?", str(total),
                  distractors=near(rng, total)),
        reason(f"Which prize does {n} win?", prizes[band], distractors=others(rng, prizes, prizes[band])),
    ]  # fmt: skip


def pronoun(rng: random.Random, collection: Collection) -> Story:
    """One child gives something to another; a pronoun tells which of the two is asked about."""
    (giver, giver_is), (getter, getter_is) = shuffled(rng, ((rng.choice(MEN), "he"), (rng.choice(WOMEN), "she")))
    third = rng.choice([name for name in MEN + WOMEN if name not in (giver, getter)])
    items = collection.items
    given, *owned = rng.sample(range(2, 6), 1) + rng.sample(range(11, 24), 3)
    gives = rng.random() < 0.5
    child, word, reasons = (giver, giver_is, collection.giver) if gives else (getter, getter_is, collection.getter)
    first = owned[0] if gives else owned[1]
    last = first - given if gives else first + given
    low, high, band = bounds(rng, last)
    labels = shuffled(rng, collection.labels)
    children = shuffled(rng, list(zip((giver, getter, third), owned, strict=True)))
    question = (
        f"{joined([f'{name} has {number} {items}' for name, number in children])}. Then {giver} gives {given} {items} "
        f"to {getter} because {word} {reasons[0]}. After that, a child with fewer than {low} {items} gets the "
        f"{labels[0]} {collection.noun}, with {low} to {high} the {labels[1]} {collection.noun}, and with more "
        f"than {high} the {labels[2]} {collection.noun}. Which {collection.noun} goes to the child who {reasons[1]}?"
    )
    return question, [
        parse(f'Who does "{word}" refer to?', child, distractors=others(rng, (giver, getter, third), child)),
        retrieve(f"How many {items} does this child have at first?", str(first),
                 distractors=shown(rng, [given, *owned], first)),
        retrieve(f"How many {items} are given away?", str(given), distractors=shown(rng, owned, given)),
        calculate(f"How many {items} does this child have in the end?", str(last), distractors=near(rng, last)),
        reason(f"Which {collection.noun} does this child get?", labels[band],
               distractors=others(rng, labels, labels[band])),
    ]  # fmt: skip


def duty(rng: random.Random, work: Duty) -> Story:
    """How long some work takes, and what is earned by that."""
    n, _ = person(rng)
    things, each = rng.sample(range(2, 13), 2)
    total = things * each
    low, high, band = bounds(rng, total)
    labels = shuffled(rng, work.labels)
    question = (
        f"{n} has to {work.verb} {things} {work.things}, and each of them takes {each} minutes. Work of less than "
        f"{low} minutes earns the {labels[0]} {work.noun}, work of {low} to {high} minutes the {labels[1]} {work.noun} "
        f"and work of more than {high} minutes the {labels[2]} {work.noun}. Which {work.noun} does {n} earn?"
    )
    numbers = [things, each, low, high]
    wrong = others(rng, work.wrong, work.meaning)
    return question, [
        mean(f'What does "{work.verb}" mean?', work.meaning, distractors=wrong),
        retrieve(f"How many {work.things} are there?", str(things), distractors=shown(rng, numbers, things)),
        retrieve("How many minutes does each of them take?", str(each), distractors=shown(rng, numbers, each)),
        calculate("How many minutes does the work take in all?", str(total), distractors=near(rng, total)),
        reason(f"Which {work.noun} does {n} earn?", labels[band], distractors=others(rng, labels, labels[band])),
    ]
