"""Stories with three offers, of which one is best or the only one that will do."""

from __future__ import annotations

import random

from headatlas.suites.chains.situations import COLOURS, Goods, Quality, Scale
from headatlas.suites.chains.stories.steps import (
    Story,
    calculate,
    decide,
    mean,
    near,
    others,
    parse,
    people,
    person,
    reason,
    retrieve,
    shown,
)
from headatlas.suites.phrasing import joined, shuffled


def budget(rng: random.Random, goods: Goods) -> Story:
    """Where to buy: the nearest place where the money is enough."""
    n, she = person(rng)
    each = rng.randint(6, 11)
    needed = rng.choice([number for number in range(3, 13) if number != each])
    shops = shuffled(rng, goods.shops)  # the nearest first
    right = rng.randrange(3)
    dear, fair = (rng.sample([p for p in prices if p != needed], 3) for prices in (range(each + 1, 16), range(2, each)))
    prices = [fair[i] if i == right or (i > right and rng.random() < 0.5) else dear[i] for i in range(3)]
    offers = [f"{price} dollars at the {shop}" for price, shop in shuffled(rng, list(zip(prices, shops, strict=True)))]
    question = (
        f"{n} has {each * needed} dollars and needs {needed} {goods.many}. One {goods.one} costs {joined(offers)}. "
        f"The {shops[0]} is the nearest, then comes the {shops[1]}, and the {shops[2]} is the farthest. {n} wants to "
        f"get all {goods.many} in one place and to walk as little as possible. Where should {she} buy them?"
    )
    numbers = [each * needed, needed, *prices]
    return question, [
        retrieve(f"How many {goods.many} does {n} need?", str(needed), distractors=shown(rng, numbers, needed)),
        retrieve(
            f"How many dollars does {n} have?", str(each * needed), distractors=shown(rng, numbers, each * needed)
        ),
        calculate(f"How many dollars can {n} pay for one {goods.one}?", str(each), distractors=near(rng, each)),
        decide(f"Where should {n} buy the {goods.many}?", shops[right], distractors=others(rng, shops, shops[right])),
    ]


def quality(rng: random.Random, wanted: Quality) -> Story:
    """Three kinds of things, one of which has the wanted quality; what that costs."""
    n, she = person(rng)
    needed, *prices = rng.sample(range(2, 13), 4)
    colours = rng.sample(COLOURS, 3)
    said = shuffled(rng, (wanted.good, *wanted.bad))
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
    wrong = others(rng, wanted.wrong, wanted.meaning)
    return question, [
        mean(f'What does "{wanted.word}" mean?', wanted.meaning, distractors=wrong),
        retrieve(f"How many {wanted.things} does {n} need?", str(needed),
                 distractors=shown(rng, prices, needed)),
        decide(f"Which {wanted.things} should {n} choose?", colours[right],
               distractors=others(rng, colours, colours[right])),
        calculate(f"How many dollars does {n} pay?", str(cost), distractors=near(rng, cost)),
    ]  # fmt: skip


def order(rng: random.Random, scale: Scale) -> Story:
    """Three things in an order, and the best of them may be promised to somebody."""
    (n, he), (m, _), (k, _) = people(rng, 3)
    best, second, third = rng.sample(scale.labels, 3)
    promised = best if rng.random() < 0.5 else rng.choice((second, third))
    right = second if promised == best else best
    premises = [
        f"the {a} {scale.thing} is {scale.more} than the {b} {scale.thing}"
        if rng.random() < 0.5
        else f"the {b} {scale.thing} is {scale.less} than the {a} {scale.thing}"
        for a, b in ((best, second), (second, third))
    ]
    first, last = shuffled(rng, premises)
    question = (
        f"{first.capitalize()}, and {last}. {n} wants the {scale.most} {scale.thing} that {he} can get, but {k} has "
        f"promised the {promised} {scale.thing} to {m}. Which {scale.thing} should {n} choose?"
    )
    labels = (best, second, third)
    return question, [
        retrieve(f"Which {scale.thing} has been promised to {m}?", promised,
                 distractors=others(rng, labels, promised)),
        parse(f'Who does "{he}" refer to?', n, distractors=others(rng, (m, k), n)),
        reason(f"Which {scale.thing} is the {scale.most} of the three?", best, distractors=others(rng, labels, best)),
        decide(f"Which {scale.thing} should {n} choose?", right, distractors=others(rng, labels, right)),
    ]  # fmt: skip
