"""Decision-making: choose the option that best serves a stated wish, within stated limits.

The options and what is true of them stand in the prompt in random order, but no sentence says which to choose: the
wish has to be applied to them. Unlike in logical reasoning the premises do not entail the answer; it is right only
because somebody wants something.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from typing import TypeVar

from headatlas.suites.cognitive.decision_situations import AVOIDED, GOODS, NEEDS, THINGS, TRAITS, Goods
from headatlas.suites.cognitive.drafting import Draft, fill
from headatlas.suites.example import Example

TASK = "Decision-making"

NAMES = ("Ben", "Ann", "Sam", "Mia", "Leo", "Eva", "Max", "Kim", "Tim", "Zoe", "Dan", "Joe", "Meg", "Nick", "Jane", "Bob")  # fmt: skip
PAIRS = (("big", "small"), ("new", "old"), ("red", "blue"), ("black", "white"))

T = TypeVar("T")


def wish(rng: random.Random, level: int, question: bool = False) -> Draft:
    """One option serves the wish. Level 2: two people with a wish each; level 3: the first wish cannot be had."""
    need = rng.choice(NEEDS)
    served = rng.sample(need.served, 3 if level == 1 and question else min(4, len(need.served)))
    (want, right), (twin_want, twin), (third_want, third), *_ = rng.sample(served, len(served))
    ann, ben = rng.sample(NAMES, 2)
    listed = _listed([f"the {option}" for _, option in served], "or")
    if level == 3:
        # Both first wishes are out of reach, so the second wish of the person asked about decides.
        blocked_want, blocked = served[-1] if served[-1][1] not in (right, twin) else (third_want, third)
        texts = [
            f"{ann} first of all {need.frame.format(blocked_want)}, and after that {need.frame.format(w)}. "
            f"{ben} {need.frame.format(third_want)}. They can {need.act} {listed}. "
            f"It is not possible to {need.act} the {blocked} today."
            for w in (want, twin_want)
        ]
    elif level == 2:
        texts = [
            " ".join(pair) + f" They can {need.act} {listed}."
            for w in (want, twin_want)
            for pair in [[f"{ann} {need.frame.format(w)}.", f"{ben} {need.frame.format(third_want)}."]]
        ]
    else:
        parts = [f"{ann} {need.frame.format('@')}.", f"{ann} can {need.act} {listed}."]
        text = " ".join(_shuffled(rng, parts))
        texts = [text.replace("@", w) for w in (want, twin_want)]
    options = [right, twin, *(o for _, o in served if o not in (right, twin))]
    return _draft(rng, texts, ann, need.act, options, need.name, "wish", question)


def wish_not(rng: random.Random, level: int) -> Draft:
    """One thing is wanted and another is not; the option for each is there."""
    need = rng.choice(NEEDS)
    served = rng.sample(need.served, min(2 + level, len(need.served)))
    ends = rng.sample(served, 2)
    ann, ben = rng.sample(NAMES, 2)
    listed = _listed([f"the {option}" for _, option in served], "or")
    order = rng.random()
    extra = rng.choice(served)[0]
    texts = []
    for (want, _), (unwanted, _) in (ends, ends[::-1]):
        parts = [f"{ann} {need.frame.format(want)}, not {unwanted}.", f"{ann} can {need.act} {listed}."]
        if level > 1:
            parts[0] += f" {ben} {need.frame.format(extra)}."
            parts[1] = f"There is one choice for each: they can {need.act} {listed}."
        if level == 3:
            parts[1] += f" {ben} and {ann} do not have to agree, and each of them will choose alone."
        texts.append(" ".join(parts if order < 0.5 else parts[::-1]))
    options = [ends[0][1], ends[1][1], *(o for w, o in served if (w, o) not in ends)]
    return _draft(rng, texts, ann, need.act, options, need.name, "wish-not")


def extreme(rng: random.Random, level: int) -> Draft:
    """The smallest or largest number is wanted; from level 2 on some options are not to be had."""
    goods = rng.choice(GOODS)
    size = 2 + level
    options = rng.sample(goods.options, size)
    numbers = rng.sample(range(2, 10) if level == 1 else range(3, 40), size)
    best = min if goods.measure.least else max
    gone = rng.sample(range(size), level - 1)
    left = [i for i in range(size) if i not in gone]
    right = best(left, key=numbers.__getitem__)
    twin = rng.choice([i for i in left if i != right])
    ann = rng.choice(NAMES)
    swapped = list(numbers)
    swapped[right], swapped[twin] = numbers[twin], numbers[right]
    sold = f" {_capital(_listed([f'the {options[i]}' for i in gone], 'and'))} cannot be had today." if gone else ""
    order = rng.random()
    texts = []
    for values in (numbers, swapped):
        parts = [f"{ann} {goods.measure.wish}.", _facts(goods, options, values) + sold]
        texts.append(" ".join(parts if order < 0.5 else parts[::-1]))
    ordered = [options[right], options[twin], *(o for i, o in enumerate(options) if i not in (right, twin))]
    return _draft(rng, texts, ann, goods.act, ordered, goods.name, "extreme")


def limit(rng: random.Random, level: int, question: bool = False) -> Draft:
    """One option keeps within a limit; from level 2 on others do too, but cannot be had."""
    goods = rng.choice(GOODS)
    size = 2 + level
    options = rng.sample(goods.options, size)
    low, high = rng.sample(range(2, 6), 2), rng.sample(range(8, 13 if level == 1 else 30), size)
    # `fits` are the options within the limit; all of them but the answer are gone.
    fits = rng.sample(range(size), level)
    pool = iter(_shuffled(rng, [*range(2, 6)]) if goods.measure.least else _shuffled(rng, [*range(12, 20)]))
    bad = iter(high if goods.measure.least else _shuffled(rng, [*range(2, 9)]))
    bound = 6 + rng.randrange(2) if goods.measure.least else 10 + rng.randrange(2)
    numbers = [next(pool) if i in fits else next(bad) for i in range(size)]
    right, *gone = fits
    twin = rng.choice([i for i in range(size) if i not in fits])
    swapped = list(numbers)
    swapped[right], swapped[twin] = numbers[twin], numbers[right]
    ann = rng.choice(NAMES)
    sold = f" {_capital(_listed([f'the {options[i]}' for i in gone], 'and'))} cannot be had today." if gone else ""
    order = rng.random()
    texts = []
    for values in (numbers, swapped):
        parts = [f"{ann} {goods.measure.limit.format(bound)}.", _facts(goods, options, values) + sold]
        texts.append(" ".join(parts if order < 0.5 else parts[::-1]))
    del low
    ordered = [options[right], options[twin], *(o for i, o in enumerate(options) if i not in (right, twin))]
    return _draft(rng, texts, ann, goods.act, ordered, goods.name, "limit", question)


def _facts(goods: Goods, options: Sequence[str], numbers: Sequence[int]) -> str:
    verb, unit = goods.measure.verb, goods.measure.unit
    clauses = [f"the {option} {verb} {number} {unit}" for option, number in zip(options, numbers, strict=True)]
    return f"{_capital(_listed(clauses, 'and'))}."


def ranking(rng: random.Random, level: int, question: bool = False) -> Draft:
    """The best-liked option among those that can be had."""
    raise NotImplementedError


def generate(seed: int, n: int, level: int) -> list[Example]:
    return fill(TASK, (), seed, n, level)
