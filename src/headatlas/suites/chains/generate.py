"""Questions that take several steps, and the steps: first what is found, known and understood, then what follows.

Each of twelve families tells one kind of situation; `chains_situations` holds several sets of content for each. The
numbers, names, orders and outcomes are drawn, so that neither a word nor a place in the text gives an answer away.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import TypeVar

from headatlas.errors import HeadAtlasError
from headatlas.suites.chains.chain import Chain, Step
from headatlas.suites.chains.situations import (
    BUDGET,
    COLOURS,
    COUNTING,
    DUTY,
    GUIDE,
    IMPLIED_CHOICE,
    IMPLIED_RULE,
    KINDS,
    MEN,
    NEED,
    ORDER,
    PRONOUN,
    QUALITY,
    TRAINS,
    WOMEN,
    Collection,
    Country,
    Duty,
    Goods,
    Kinds,
    Known,
    Quality,
    Remedy,
    Rule,
    Scale,
    Tongue,
    Wish,
)

TRIES = 12  # stories looked at for each chain
PATIENCE = 400  # chains in a row that may fail before we say that the supply is used up
OPTIONS = 4
NEAR = 6  # how far a wrong number may lie from the right one

Story = tuple[str, list[Step]]
Teller = Callable[[random.Random], Story]
C = TypeVar("C")

retrieve = partial(Step, task="Retrieval")
recall = partial(Step, task="Knowledge Recall")
mean = partial(Step, task="Semantic Understanding")
parse = partial(Step, task="Syntactic Understanding")
calculate = partial(Step, task="Math Calculation")
infer = partial(Step, task="Inference")
reason = partial(Step, task="Logical Reasoning")
decide = partial(Step, task="Decision-making")


def _listed(parts: Sequence[str]) -> str:
    return ", ".join(parts[:-1]) + f" and {parts[-1]}"


def _bare(text: str) -> str:
    """Without its article, so that an answer begins with the word that matters."""
    return text.removeprefix("a ").removeprefix("an ").removeprefix("the ")


def _shuffled(rng: random.Random, items: Sequence[C]) -> list[C]:
    return rng.sample(items, len(items))


def _others(rng: random.Random, options: Sequence[str], answer: str) -> tuple[str, ...]:
    """Up to three options, in any order, that are not the answer."""
    return tuple(_shuffled(rng, [option for option in dict.fromkeys(options) if option != answer])[: OPTIONS - 1])


def _pick(rng: random.Random, numbers: Sequence[int], answer: int) -> tuple[str, ...]:
    """Wrong numbers for a number that stands in the text: others that stand there."""
    return _others(rng, [str(n) for n in numbers], str(answer))


def _near(rng: random.Random, answer: int) -> tuple[str, ...]:
    """Wrong numbers near a number that has been worked out, as often below it as above."""
    lower = [n for n in range(answer - NEAR, answer) if n > 0]
    below = min(rng.randrange(OPTIONS), len(lower))
    higher = range(answer + 1, answer + NEAR + 1)
    wrong = rng.sample(lower, below) + rng.sample(higher, OPTIONS - 1 - below)
    return tuple(str(n) for n in _shuffled(rng, wrong))


def _bounds(rng: random.Random, number: int) -> tuple[int, int, int]:
    """Two bounds, neither of them the number, and the number's band: below both, between them or above both."""
    band = rng.randrange(3)
    while True:
        low = number - rng.randint(1, NEAR) if band else number + rng.randint(1, NEAR)
        high = number - rng.randint(1, NEAR) if band == 2 else max(low, number) + rng.randint(2, NEAR)
        if 2 < low < high - 1:
            return low, high, band


def _people(rng: random.Random, number: int) -> list[tuple[str, str]]:
    """Different names with their pronouns."""
    return rng.sample([(name, "he") for name in MEN] + [(name, "she") for name in WOMEN], number)


def _person(rng: random.Random) -> tuple[str, str]:
    return _people(rng, 1)[0]


def budget(rng: random.Random, goods: Goods) -> Story:
    """Where to buy: the nearest place where the money is enough."""
    n, she = _person(rng)
    each = rng.randint(6, 11)
    needed = rng.choice([number for number in range(3, 13) if number != each])
    shops = _shuffled(rng, goods.shops)  # the nearest first
    right = rng.randrange(3)
    dear, fair = (rng.sample([p for p in prices if p != needed], 3) for prices in (range(each + 1, 16), range(2, each)))
    prices = [fair[i] if i == right or (i > right and rng.random() < 0.5) else dear[i] for i in range(3)]
    offers = [f"{price} dollars at the {shop}" for price, shop in _shuffled(rng, list(zip(prices, shops, strict=True)))]
    question = (
        f"{n} has {each * needed} dollars and needs {needed} {goods.many}. One {goods.one} costs {_listed(offers)}. "
        f"The {shops[0]} is the nearest, then comes the {shops[1]}, and the {shops[2]} is the farthest. {n} wants to "
        f"get all {goods.many} in one place and to walk as little as possible. Where should {she} buy them?"
    )
    numbers = [each * needed, needed, *prices]
    return question, [
        retrieve(f"How many {goods.many} does {n} need?", str(needed), distractors=_pick(rng, numbers, needed)),
        retrieve(
            f"How many dollars does {n} have?", str(each * needed), distractors=_pick(rng, numbers, each * needed)
        ),
        calculate(f"How many dollars can {n} pay for one {goods.one}?", str(each), distractors=_near(rng, each)),
        decide(f"Where should {n} buy the {goods.many}?", shops[right], distractors=_others(rng, shops, shops[right])),
    ]


def counting(rng: random.Random, known: Known) -> Story:
    """How many parts some things have together, and which prize there is for that."""
    n, he = _person(rng)
    things = rng.randint(2, 12)
    total = things * known.number
    low, high, band = _bounds(rng, total)
    prizes = _shuffled(rng, known.prizes)
    question = (
        f"In a quiz, {n} has to say how many {known.parts} {things} {known.many} have, and {he} is right. The prize "
        f"for a number below {low} is a {prizes[0]}, for a number from {low} to {high} a {prizes[1]}, and for a number "
        f"above {high} a {prizes[2]}. What does {n} win?"
    )
    wrong = _others(rng, [str(k) for k in range(2, 13) if k != known.number], "")
    return question, [
        retrieve(
            f"How many {known.many} is {n} asked about?", str(things),
            distractors=_pick(rng, [low, high, things + rng.choice((-1, 1))], things),
        ),
        recall(f"How many {known.parts} does one {known.one} have?", str(known.number), distractors=wrong),
        calculate(f"How many {known.parts} do these {known.many} have in all?", str(total),
                  distractors=_near(rng, total)),
        reason(f"Which prize does {n} win?", prizes[band], distractors=_others(rng, prizes, prizes[band])),
    ]  # fmt: skip


def trains(rng: random.Random, country: Country) -> Story:
    """From which platform a late train leaves."""
    n, _ = _person(rng)
    cities = _shuffled(rng, (country.capital, *country.others))
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
        f"{_listed(times)}, but all of them leave {late} {'hour' if late == 1 else 'hours'} late. Trains that really "
        f"leave before {low} o'clock use platform {platforms[0]}, those between {low} and {high} o'clock use platform "
        f"{platforms[1]}, and those after {high} o'clock use platform {platforms[2]}. Which platform should {n} go to?"
    )
    return question, [
        recall(
            f"What is the capital of {country.name}?", country.capital,
            distractors=_others(rng, cities, country.capital),
        ),
        retrieve("At what hour should the train to the capital leave?", str(due), distractors=_pick(rng, hours, due)),
        retrieve("By how many hours are the trains late?", str(late), distractors=_pick(rng, hours, late)),
        calculate("At what hour does the train to the capital really leave?", str(leaves),
                  distractors=_near(rng, leaves)),
        reason("Which platform does this train use?", right, distractors=_others(rng, platforms, right)),
    ]  # fmt: skip


def guide(rng: random.Random, tongue: Tongue) -> Story:
    """Which bus to take after a tour in the right language."""
    languages = _shuffled(rng, (tongue.language, *tongue.others))
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
    ordered = _listed(_shuffled(rng, buses))
    question = (
        f"A family from {tongue.country} wants a tour in the main language of its country. There are tours with "
        f"{_listed(tours)}, and each of them takes {length} hours. On that day, {ordered}. The family wants to see the "
        "whole tour and then wait as little as possible. Which bus should it take?"
    )
    wrong = _others(rng, languages, tongue.language)
    return question, [
        recall(f"What is the main language of {tongue.country}?", tongue.language, distractors=wrong),
        retrieve("At what hour does the tour in this language start?", str(start),
                 distractors=_pick(rng, [*starts, *leaves], start)),
        calculate("At what hour does this tour end?", str(end), distractors=_near(rng, end)),
        decide("Which bus should the family take?", right, distractors=_others(rng, colours, right)),
    ]  # fmt: skip


def implied_rule(rng: random.Random, rule: Rule) -> Story:
    """A rule for three cases; a clue tells which of them it is."""
    n, _ = _person(rng)
    clue, *_ = clues = _shuffled(rng, rule.clues)
    outcomes = rng.sample(rule.outcomes, 3)
    phrases = [rule.phrase.format(i=c.implied, o=o) for c, o in zip(clues, outcomes, strict=True)]
    text = f"{rule.opening} {_listed(_shuffled(rng, phrases))}. {clue.text} {rule.question}"
    implied = [c.implied for c in rule.clues] + list(rule.extra)
    return text.format(n=n), [
        parse(f'Which noun does "{clue.pronoun}" refer to?', clue.noun,
              distractors=_others(rng, clue.other_nouns, clue.noun)),
        infer(rule.ask.format(n=n), clue.implied, distractors=_others(rng, implied, clue.implied)),
        reason(rule.question.format(n=n), outcomes[0], distractors=_others(rng, rule.outcomes, outcomes[0])),
    ]  # fmt: skip


def need(rng: random.Random, remedy: Remedy) -> Story:
    """A clue tells what is missing; one of three things helps."""
    n, _ = _person(rng)
    case = rng.randrange(3)
    clue, right = remedy.clues[case], _bare(remedy.remedies[case])
    offer = remedy.offer.format(*_shuffled(rng, remedy.remedies), n=n)
    question = remedy.question.format(n=n)
    implied = [_bare(c.implied) for c in remedy.clues] + [_bare(remedy.extra)]
    remedies = [_bare(text) for text in remedy.remedies]
    parts = [clue.text, offer] if rng.random() < 0.5 else [offer, clue.text]
    return " ".join([*parts, question]), [
        parse(f'Which noun does "{clue.pronoun}" refer to?', clue.noun,
              distractors=_others(rng, clue.other_nouns, clue.noun)),
        infer(remedy.ask, _bare(clue.implied), distractors=_others(rng, implied, _bare(clue.implied))),
        decide(question, right, distractors=_others(rng, remedies, right)),
    ]  # fmt: skip


def implied_choice(rng: random.Random, wish: Wish) -> Story:
    """A clue tells what somebody likes or fears, a word in the wish bars one of the offers."""
    n, m = rng.sample(MEN + WOMEN, 2)
    taste = rng.choice(wish.tastes)
    offers = [f"{taste.right} {wish.good}", f"{taste.barred} {wish.bad}", f"{taste.other} {wish.good}"]
    text = f"{wish.wish} {taste.clue} {wish.offer.format(*_shuffled(rng, offers))} {wish.question}"
    implied = [_bare(t.implied) for t in wish.tastes] + [_bare(wish.extra)]
    options = [_bare(text) for text in (taste.right, taste.barred, taste.other)]
    return text.format(n=n, m=m), [
        mean(f'What does "{wish.word}" mean?', wish.meaning, distractors=_others(rng, wish.wrong, wish.meaning)),
        infer(wish.ask.format(m=m), _bare(taste.implied), distractors=_others(rng, implied, _bare(taste.implied))),
        decide(wish.question.format(n=n), options[0], distractors=_others(rng, options, options[0])),
    ]


def quality(rng: random.Random, wanted: Quality) -> Story:
    """Three kinds of things, one of which has the wanted quality; what that costs."""
    n, she = _person(rng)
    needed, *prices = rng.sample(range(2, 13), 4)
    colours = rng.sample(COLOURS, 3)
    said = _shuffled(rng, (wanted.good, *wanted.bad))
    right = said.index(wanted.good)
    cost = needed * prices[right]
    offers = [
        f"The {colour} ones {words} and cost {price} dollars each."
        for colour, words, price in zip(colours, said, prices, strict=True)
    ]
    question = (
        f"{n} needs {needed} {wanted.word} {wanted.things}. {' '.join(offers)} How many dollars does {n} pay if "
        f"{she} chooses the right kind?"
    )
    wrong = _others(rng, wanted.wrong, wanted.meaning)
    return question, [
        mean(f'What does "{wanted.word}" mean?', wanted.meaning, distractors=wrong),
        retrieve(f"How many {wanted.things} does {n} need?", str(needed),
                 distractors=_pick(rng, prices, needed)),
        decide(f"Which {wanted.things} should {n} choose?", colours[right],
               distractors=_others(rng, colours, colours[right])),
        calculate(f"How many dollars does {n} pay?", str(cost), distractors=_near(rng, cost)),
    ]  # fmt: skip


def pronoun(rng: random.Random, collection: Collection) -> Story:
    """One child gives something to another; a pronoun tells which of the two is asked about."""
    (giver, giver_is), (getter, getter_is) = _shuffled(rng, ((rng.choice(MEN), "he"), (rng.choice(WOMEN), "she")))
    third = rng.choice([name for name in MEN + WOMEN if name not in (giver, getter)])
    items = collection.items
    given, *owned = rng.sample(range(2, 6), 1) + rng.sample(range(11, 24), 3)
    gives = rng.random() < 0.5
    child, word, reasons = (giver, giver_is, collection.giver) if gives else (getter, getter_is, collection.getter)
    first = owned[0] if gives else owned[1]
    last = first - given if gives else first + given
    low, high, band = _bounds(rng, last)
    labels = _shuffled(rng, collection.labels)
    people = _shuffled(rng, list(zip((giver, getter, third), owned, strict=True)))
    question = (
        f"{_listed([f'{name} has {number} {items}' for name, number in people])}. Then {giver} gives {given} {items} "
        f"to {getter} because {word} {reasons[0]}. After that, a child with fewer than {low} {items} gets the "
        f"{labels[0]} {collection.noun}, with {low} to {high} the {labels[1]} {collection.noun}, and with more "
        f"than {high} the {labels[2]} {collection.noun}. Which {collection.noun} goes to the child who {reasons[1]}?"
    )
    return question, [
        parse(f'Who does "{word}" refer to?', child, distractors=_others(rng, (giver, getter, third), child)),
        retrieve(f"How many {items} does this child have at first?", str(first),
                 distractors=_pick(rng, [given, *owned], first)),
        retrieve(f"How many {items} are given away?", str(given), distractors=_pick(rng, owned, given)),
        calculate(f"How many {items} does this child have in the end?", str(last), distractors=_near(rng, last)),
        reason(f"Which {collection.noun} does this child get?", labels[band],
               distractors=_others(rng, labels, labels[band])),
    ]  # fmt: skip


def kinds(rng: random.Random, store: Kinds) -> Story:
    """What kind a thing is tells where it is kept, and that how far it is."""
    n, she = _person(rng)
    names = _shuffled(rng, list(store.kinds))
    labels = rng.sample(store.labels, 3)
    minutes = rng.sample(range(3, 20), 3)
    where = rng.randrange(3)
    kind, members = store.kinds[names[where]]
    thing = rng.choice(members)
    rules = [f"{name} are kept in the {label} {store.place}" for name, label in zip(names, labels, strict=True)]
    walks = _shuffled(rng, list(zip(minutes, labels, strict=True)))
    ways = _listed([f"{time} minutes to the {label} {store.place}" for time, label in walks])
    question = (
        f"{store.site}, {_listed(rules)}. From the gate, it is {ways}. {n} takes the {thing} from the gate to "
        f"{store.pronoun} {store.place}, and then {she} walks back. How many minutes does {n} walk?"
    )
    answers = [answer for answer, _ in store.kinds.values()] + [store.extra]
    return question, [
        parse(f'Which noun does "{store.pronoun}" refer to?', thing,
              distractors=_others(rng, ("gate", store.place, "minutes"), thing)),
        recall(store.ask.format(thing), kind, distractors=_others(rng, answers, kind)),
        reason(f"Which {store.place} does {n} walk to?", labels[where],
               distractors=_others(rng, store.labels, labels[where])),
        calculate(f"How many minutes does {n} walk in all?", str(2 * minutes[where]),
                  distractors=_near(rng, 2 * minutes[where])),
    ]  # fmt: skip


def order(rng: random.Random, scale: Scale) -> Story:
    """Three things in an order, and the best of them may be promised to somebody."""
    (n, he), (m, _), (k, _) = _people(rng, 3)
    best, second, third = rng.sample(scale.labels, 3)
    promised = best if rng.random() < 0.5 else rng.choice((second, third))
    right = second if promised == best else best
    premises = [
        f"the {a} {scale.thing} is {scale.more} than the {b} {scale.thing}"
        if rng.random() < 0.5
        else f"the {b} {scale.thing} is {scale.less} than the {a} {scale.thing}"
        for a, b in ((best, second), (second, third))
    ]
    first, last = _shuffled(rng, premises)
    question = (
        f"{first.capitalize()}, and {last}. {n} wants the {scale.most} {scale.thing} that {he} can get, but {k} has "
        f"promised the {promised} {scale.thing} to {m}. Which {scale.thing} should {n} choose?"
    )
    labels = (best, second, third)
    return question, [
        retrieve(f"Which {scale.thing} has been promised to {m}?", promised,
                 distractors=_others(rng, labels, promised)),
        parse(f'Who does "{he}" refer to?', n, distractors=_others(rng, (m, k), n)),
        reason(f"Which {scale.thing} is the {scale.most} of the three?", best, distractors=_others(rng, labels, best)),
        decide(f"Which {scale.thing} should {n} choose?", right, distractors=_others(rng, labels, right)),
    ]  # fmt: skip


def duty(rng: random.Random, work: Duty) -> Story:
    """How long some work takes, and what is earned by that."""
    n, _ = _person(rng)
    things, each = rng.sample(range(2, 13), 2)
    total = things * each
    low, high, band = _bounds(rng, total)
    labels = _shuffled(rng, work.labels)
    question = (
        f"{n} has to {work.verb} {things} {work.things}, and each of them takes {each} minutes. Work of less than "
        f"{low} minutes earns the {labels[0]} {work.noun}, work of {low} to {high} minutes the {labels[1]} {work.noun} "
        f"and work of more than {high} minutes the {labels[2]} {work.noun}. Which {work.noun} does {n} earn?"
    )
    numbers = [things, each, low, high]
    wrong = _others(rng, work.wrong, work.meaning)
    return question, [
        mean(f'What does "{work.verb}" mean?', work.meaning, distractors=wrong),
        retrieve(f"How many {work.things} are there?", str(things), distractors=_pick(rng, numbers, things)),
        retrieve("How many minutes does each of them take?", str(each), distractors=_pick(rng, numbers, each)),
        calculate("How many minutes does the work take in all?", str(total), distractors=_near(rng, total)),
        reason(f"Which {work.noun} does {n} earn?", labels[band], distractors=_others(rng, labels, labels[band])),
    ]


def _sets(family: str, tell: Callable[[random.Random, C], Story], sets: Mapping[str, C]) -> list[tuple[str, Teller]]:
    """A group and its teller for each set of content."""
    return [(f"chains/{family}-{name}", partial(_told, tell, content)) for name, content in sets.items()]


def _told(tell: Callable[[random.Random, C], Story], content: C, rng: random.Random) -> Story:
    return tell(rng, content)


FAMILIES = (
    _sets("budget", budget, BUDGET),
    _sets("implied-rule", implied_rule, IMPLIED_RULE),
    _sets("counting", counting, COUNTING),
    _sets("implied-choice", implied_choice, IMPLIED_CHOICE),
    _sets("trains", trains, TRAINS),
    _sets("quality", quality, QUALITY),
    _sets("need", need, NEED),
    _sets("pronoun", pronoun, PRONOUN),
    _sets("guide", guide, GUIDE),
    _sets("order", order, ORDER),
    _sets("duty", duty, DUTY),
    _sets("kinds", kinds, KINDS),
)


def _turns() -> Iterator[tuple[str, Teller]]:
    """The families in turn, and within each its sets."""
    for turn in count():
        for groups in FAMILIES:
            yield groups[turn % len(groups)]


def generate(seed: int, n: int) -> list[Chain]:
    """`n` different chains; of several drawn stories, the one whose answers have been used least is kept."""
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
                raise HeadAtlasError(f"There are {len(chains)} different chains; {n} were asked for. Ask for fewer.")
            continue
        misses = 0
        question, steps = min(new, key=lambda story: sum(used[step.task, step.answer] for step in story[1]))
        questions.add(question)
        used.update((step.task, step.answer) for step in steps)
        chains.append(Chain(f"chain-{seed}-{len(chains):05d}", question, steps[-1].answer, tuple(steps), group))
    return chains
