"""Stories about getting somewhere: when it is time to leave, and how far it is."""

from __future__ import annotations

import random

from headatlas.suites.chains.situations import COLOURS, MEN, WOMEN, Country, Kinds, Tongue
from headatlas.suites.chains.stories.steps import (
    Story,
    calculate,
    decide,
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


def trains(rng: random.Random, country: Country) -> Story:
    """From which platform a late train leaves."""
    n, _ = person(rng)
    cities = shuffled(rng, (country.capital, *country.others))
    late = rng.randint(1, 2)
    hours = rng.sample(range(3, 8), 3)
    due = hours[cities.index(country.capital)]
    leaves = due + late
    pairs = [(low, high) for low in range(1, 11) for high in range(low + 2, 13) if leaves not in (low, high)]
    band = rng.randrange(3)
    low, high = rng.choice([(low, high) for low, high in pairs if (leaves > low) + (leaves > high) == band])
    platforms = [str(number) for number in rng.sample(range(13, 30), 3)]
    right = platforms[band]
    times = [f"to {city} at {hour} o'clock" for city, hour in zip(cities, hours, strict=True)]
    question = (
        f"On a trip through {country.name}, {n} wants to see the capital. Today there are trains "
        f"{joined(times)}, but all of them leave {late} {'hour' if late == 1 else 'hours'} late. Trains that really "
        f"leave before {low} o'clock use platform {platforms[0]}, those between {low} and {high} o'clock use platform "
        f"{platforms[1]}, and those after {high} o'clock use platform {platforms[2]}. Which platform should {n} go to?"
    )
    return question, [
        recall(
            f"What is the capital of {country.name}?", country.capital,
            distractors=others(rng, cities, country.capital),
        ),
        retrieve("At what hour should the train to the capital leave?", str(due), distractors=shown(rng, hours, due)),
        retrieve("By how many hours are the trains late?", str(late), distractors=shown(rng, hours, late)),
        calculate("At what hour does the train to the capital really leave?", str(leaves),
                  distractors=near(rng, leaves)),
        reason("Which platform does this train use?", right, distractors=others(rng, platforms, right)),
    ]  # fmt: skip


def guide(rng: random.Random, tongue: Tongue) -> Story:
    """Which bus to take after a tour in the right language."""
    languages = shuffled(rng, (tongue.language, *tongue.others))
    guides = rng.sample(MEN + WOMEN, 3)
    length = rng.randint(2, 3)
    starts = rng.sample([hour for hour in range(1, 8) if hour != length], 3)
    start = starts[languages.index(tongue.language)]
    end = start + length
    missed = rng.randrange(3)
    leaves = sorted(
        rng.sample(range(max(1, end - 4), end), missed) + rng.sample(range(end + 1, min(13, end + 5)), 3 - missed)
        if end < 10
        else [*rng.sample(range(6, end), 2), rng.randint(end + 1, 12)]
    )
    colours = rng.sample(COLOURS, 3)
    right = colours[next(i for i, hour in enumerate(leaves) if hour > end)]
    tours = [
        f"{name} in {language} at {hour} o'clock"
        for name, language, hour in zip(guides, languages, starts, strict=True)
    ]
    buses = [f"the {colour} bus leaves at {hour} o'clock" for colour, hour in zip(colours, leaves, strict=True)]
    ordered = joined(shuffled(rng, buses))
    question = (
        f"A family from {tongue.country} wants a tour in the main language of its country. There are tours with "
        f"{joined(tours)}, and each of them takes {length} hours. On that day, {ordered}. The family wants to see the "
        "whole tour and then wait as little as possible. Which bus should it take?"
    )
    wrong = others(rng, languages, tongue.language)
    return question, [
        recall(f"What is the main language of {tongue.country}?", tongue.language, distractors=wrong),
        retrieve("At what hour does the tour in this language start?", str(start),
                 distractors=shown(rng, [*starts, *leaves], start)),
        calculate("At what hour does this tour end?", str(end), distractors=near(rng, end)),
        decide("Which bus should the family take?", right, distractors=others(rng, colours, right)),
    ]  # fmt: skip


def kinds(rng: random.Random, store: Kinds) -> Story:
    """The kind of a thing says where it is kept, and the place says how far it is."""
    n, she = person(rng)
    names = shuffled(rng, list(store.kinds))
    labels = rng.sample(store.labels, 3)
    minutes = rng.sample(range(3, 20), 3)
    where = rng.randrange(3)
    kind, members = store.kinds[names[where]]
    thing = rng.choice(members)
    rules = [f"{name} are kept in the {label} {store.place}" for name, label in zip(names, labels, strict=True)]
    walks = shuffled(rng, list(zip(minutes, labels, strict=True)))
    ways = joined([f"{time} minutes to the {label} {store.place}" for time, label in walks])
    question = (
        f"{store.site}, {joined(rules)}. From the gate, it is {ways}. {n} takes the {thing} from the gate to "
        f"{store.pronoun} {store.place}, and then {she} walks back. How many minutes does {n} walk?"
    )
    answers = [answer for answer, _ in store.kinds.values()] + [store.extra]
    return question, [
        parse(f'Which noun does "{store.pronoun}" refer to?', thing,
              distractors=others(rng, ("gate", store.place, "minutes"), thing)),
        recall(store.ask.format(thing), kind, distractors=others(rng, answers, kind)),
        reason(f"Which {store.place} does {n} walk to?", labels[where],
               distractors=others(rng, store.labels, labels[where])),
        calculate(f"How many minutes does {n} walk in all?", str(2 * minutes[where]),
                  distractors=near(rng, 2 * minutes[where])),
    ]  # fmt: skip
