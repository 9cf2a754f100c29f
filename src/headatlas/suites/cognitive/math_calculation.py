"""Math calculation: a number has to be worked out; it is not in the prompt (except where numbers are compared).

The wrong options are near numbers with as many digits as the answer, never numbers of the prompt, and the answer is as
often the smallest as the largest option. Level 1 has one-digit numbers with the calculation written out; level 2 has
two-digit numbers, and its stories no longer say what to calculate; level 3 has three numbers, or long products and
divisions. The sentences around a calculation contain no numbers and no help.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from headatlas.suites.cognitive.drafting import Draft, fill
from headatlas.suites.cognitive.math_operations import (
    COUNT_DOWN,
    COUNT_ON,
    DIFFERENCE,
    DOUBLE,
    PRODUCT,
    QUOTIENT,
    QUOTIENT_BELOW_100,
    SUM,
    Numbers,
    Operation,
    family,
    first_terms,
    spell,
)
from headatlas.suites.cognitive.math_words import HOLDERS, ITEMS, NAMES, SCENE, STORY
from headatlas.suites.example import Example

TASK = "Math Calculation"
OPTIONS = 4
CHANGES = (-2, -1, 1, 2)  # of a number, for the twin
# How far wrong options may be from a small answer, a large one, and a double.
NEAR, FARTHER, EVEN = (1, 2, 3, 4, 5), (1, 2, 3, 10, 20), (2, 4, 6, 8, 10)
SPELLED = range(1, 21)  # answers that are one short word


def _steps(operation: Operation, numbers: Numbers, answer: int) -> Sequence[int]:
    """How far wrong options are from the answer; those of a product are mostly products, those of a double even."""
    if operation is PRODUCT:
        return numbers[0], numbers[1], 2 * numbers[0], 2 * numbers[1], 1
    return EVEN if operation is DOUBLE else NEAR if answer < 30 else FARTHER


def _near(rng: random.Random, answer: int, twin: int, steps: Sequence[int], fits: Callable[[int], bool]) -> list[int]:
    """The twin's answer and two near numbers, so that the answer has any rank among the options equally often."""
    steps = rng.sample(sorted(set(steps)), len(set(steps)))
    lower = [n for step in steps if (n := answer - step) != twin and fits(n)]
    higher = [n for step in steps if (n := answer + step) != twin and fits(n)]
    below = rng.choice((0, 1, 1, 2, 2, 2) if twin < answer else (0, 0, 0, 1, 1, 2))
    below = min(max(below, OPTIONS - 2 - len(higher)), len(lower))
    return [twin, *lower[:below], *higher[: OPTIONS - 2 - below]]


def _draft(
    rng: random.Random, level: int, template: str, operation: Operation, write: Callable[[Numbers], str],
    shown: Callable[[Numbers], Numbers] = tuple, spelled: bool = False,
) -> Draft:  # fmt: skip
    """Draw numbers and a change of one of them until both answers fit, and write them down."""
    while True:
        numbers = operation.draw(rng, level)
        answer = operation.solve(numbers)
        digits, banned = len(str(answer)), (0, 1, *shown(numbers))  # 1 would hardly ever be right

        def fits(n: int, digits: int = digits, banned: Numbers = banned) -> bool:
            return len(str(n)) == digits and n not in banned and (n in SPELLED or not spelled)

        i = rng.randrange(len(numbers))
        # A number that is divided can only change by whole multiples of the divisor.
        changed = numbers[i] + rng.choice(CHANGES) * (numbers[1] if operation.sign == "/" and i == 0 else 1)
        if abs(changed) < 2 or len(str(changed)) != len(str(numbers[i])):
            continue
        twin = (*numbers[:i], changed, *numbers[i + 1 :])
        twin_answer = operation.solve(twin)
        if fits(answer) and fits(twin_answer) and twin_answer != answer:
            wrong = _near(rng, answer, twin_answer, _steps(operation, numbers, answer), fits)
            if len(wrong) == OPTIONS - 1:
                break
    text = spell if spelled else str
    return Draft(
        prompt=write(numbers),
        answer=f" {text(answer)}",
        distractors=tuple(f" {text(n)}" for n in wrong),
        twin_prompt=write(twin),
        twin_answer=f" {text(twin_answer)}",
        group=operation.group(numbers),
        template=template,
    )


def _scene(rng: random.Random, level: int) -> str:
    """Some sentences that go before a bare calculation, more of them at a higher level."""
    count = {1: rng.randint(1, 2), 2: rng.randint(3, 4), 3: 6}[level]
    chosen = [0, *sorted(rng.sample(range(1, len(SCENE)), count - 1))]
    return " ".join(rng.choice(SCENE[i]) for i in chosen).format(name=rng.choice(NAMES))


def _story(rng: random.Random, level: int) -> str:
    """Some sentences that go before a story, none at level 1."""
    return "".join(rng.choice(sentences) + " " for sentences in STORY[: level if level > 1 else 0])


def _bare(rng: random.Random, level: int, template: str, operation: Operation, wording: str) -> Draft:
    """A calculation in signs; the wording has the field `task` for it."""
    scene = _scene(rng, level)
    sign = f" {operation.sign} "
    return _draft(rng, level, template, operation, lambda n: f"{scene} {wording.format(task=sign.join(map(str, n)))}")


def add(rng: random.Random, level: int) -> Draft:
    """A sum."""
    return _bare(rng, level, "add", SUM, "{task} =")


def subtract(rng: random.Random, level: int) -> Draft:
    """A difference."""
    return _bare(rng, level, "subtract", DIFFERENCE, "{task} =")


def multiply(rng: random.Random, level: int) -> Draft:
    """A product."""
    return _bare(rng, level, "multiply", PRODUCT, "{task} =")


def divide(rng: random.Random, level: int) -> Draft:
    """A division that comes out even."""
    return _bare(rng, level, "divide", QUOTIENT, "{task} =")


def ask_sum(rng: random.Random, level: int) -> Draft:
    """A sum as a question."""
    return _bare(rng, level, "ask-sum", SUM, "Question: What is {task}? Answer: {task} =")


def ask_product(rng: random.Random, level: int) -> Draft:
    """A product as a question."""
    return _bare(rng, level, "ask-product", PRODUCT, "Question: What is {task}? Answer: {task} =")


def ask_quotient(rng: random.Random, level: int) -> Draft:
    """A division as a question."""
    return _bare(rng, level, "ask-quotient", QUOTIENT, "Question: What is {task}? Answer: {task} =")


def in_words(rng: random.Random, level: int) -> Draft:
    """A product (level 1), difference (2) or division (3) with its numbers spelled out."""
    scene = _scene(rng, level)
    operation, sign = {1: (PRODUCT, "times"), 2: (DIFFERENCE, "minus"), 3: (QUOTIENT_BELOW_100, "divided by")}[level]

    def write(numbers: Numbers) -> str:
        first, second = map(spell, numbers)
        return f"{scene} {first.capitalize()} {sign} {second} equals"

    return _draft(rng, level, "in-words", operation, write, spelled=True)


def double(rng: random.Random, level: int) -> Draft:
    """Twice a number, at level 3 with another one added."""
    scene = _scene(rng, level)
    more = " and then add {}" if level == 3 else ""
    return _draft(rng, level, "double", DOUBLE, lambda n: f"{scene} If you double {n[0]}{more.format(*n[1:])}, you get")


def count_on(rng: random.Random, level: int) -> Draft:
    """The next number of a rising sequence with even steps."""
    scene = _scene(rng, level)
    return _draft(
        rng, level, "count-on", COUNT_ON,
        lambda n: f"{scene} Count on in equal steps: {', '.join(map(str, first_terms(n)))},", first_terms,
    )  # fmt: skip


def count_down(rng: random.Random, level: int) -> Draft:
    """The next number of a falling sequence with even steps."""
    scene = _scene(rng, level)
    return _draft(
        rng, level, "count-down", COUNT_DOWN,
        lambda n: f"{scene} Count down in equal steps: {', '.join(map(str, first_terms(n)))},", first_terms,
    )  # fmt: skip


def gain(rng: random.Random, level: int) -> Draft:
    """A story in which things are put together."""
    story, item = _story(rng, level), rng.choice(ITEMS)
    one, two, three = rng.sample(NAMES, 3)

    def write(n: Numbers) -> str:
        if level == 1:
            return f"{one} has {n[0]} {item} and {two} brings {n[1]} more. The number of {item} is {n[0]} + {n[1]} ="
        more = f" Later {three} brings {n[2]} {item} as well." if level == 3 else ""
        return f"{story}{one} has {n[0]} {item} and {two} brings {n[1]} more.{more} The number of {item} is now"

    return _draft(rng, level, "gain", SUM, write)


def loss(rng: random.Random, level: int) -> Draft:
    """A story in which things are given away."""
    story, item = _story(rng, level), rng.choice(ITEMS)
    one, two, three = rng.sample(NAMES, 3)

    def write(n: Numbers) -> str:
        if level == 1:
            return f"{one} has {n[0]} {item} and gives {n[1]} to {two}. The number of {item} left is {n[0]} - {n[1]} ="
        more = f" Later {one} gives {n[2]} {item} to {three}." if level == 3 else ""
        return (
            f"{story}{one} has {n[0]} {item} and gives {n[1]} to {two}.{more} The number of {item} that {one} keeps is"
        )

    return _draft(rng, level, "loss", DIFFERENCE, write)


def packs(rng: random.Random, level: int) -> Draft:
    """A story with equally many things in each holder."""
    story, item, holder, name = _story(rng, level), rng.choice(ITEMS), rng.choice(HOLDERS), rng.choice(NAMES)

    def write(n: Numbers) -> str:
        if level == 1:
            return f"{name} has {n[0]} {holder} with {n[1]} {item} in each. The number of {item} is {n[0]} x {n[1]} ="
        told = f"{name} has {n[0]} empty {holder} and puts {n[1]} {item} into each of them."
        return f"{story}{told} The number of {item} needed for this is"

    return _draft(rng, level, "packs", PRODUCT, write)


def share(rng: random.Random, level: int) -> Draft:
    """A story, told as a question, in which things are shared equally."""
    story, item, name = _story(rng, level), rng.choice(ITEMS), rng.choice(NAMES)

    def write(n: Numbers) -> str:
        task = f" {n[0]} / {n[1]} =" if level == 1 else ""
        told = f"{name} shares {n[0]} {item} equally among {n[1]} friends."
        return f"{story}{told} Question: How many does each friend get? Answer:{task}"

    return _draft(rng, level, "share", QUOTIENT, write)


def ask_extreme(rng: random.Random, level: int) -> Draft:
    """The largest or smallest of four numbers; in the twin the answer is moved to the other end."""
    scene = _scene(rng, level)
    low, high = ((1, 9), (11, 99), (101, 999))[level - 1]
    numbers = rng.sample(range(low + 1, high), OPTIONS)
    word, pick, end = rng.choice((("largest", max, low), ("smallest", min, high)))
    answer = pick(numbers)
    rest = [n for n in numbers if n != answer]
    moved = [end if n == answer else n for n in numbers]

    def write(numbers: Sequence[int]) -> str:
        *first, last = map(str, numbers)
        return f"{scene} Question: Which is the {word} of the numbers {', '.join(first)} and {last}? Answer:"

    return Draft(
        prompt=write(numbers),
        answer=f" {answer}",
        distractors=tuple(f" {n}" for n in rest),
        twin_prompt=write(moved),
        twin_answer=f" {pick(moved)}",
        group=family("compare", *numbers),
        template="ask-extreme",
    )


MAKERS = (
    add, gain, ask_product, count_on, subtract, share, multiply, ask_extreme, divide, packs, ask_sum, count_down,
    in_words, loss, ask_quotient, double,
)  # fmt: skip


def generate(seed: int, n: int, level: int) -> list[Example]:
    return fill(TASK, MAKERS, seed, n, level)
