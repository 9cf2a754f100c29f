"""Math calculation: a number has to be worked out; it stands nowhere in the prompt (except where numbers are compared).

The wrong options are near numbers with as many digits as the answer, never numbers of the prompt, and the answer is as
often the smallest as the largest option. Level 1 is the small tables with the calculation written out; level 2 has
two-digit numbers, and its stories no longer say what to calculate; level 3 has three numbers, or long products and
divisions. The sentences around a calculation hold no numbers and no help.

A group is a family of calculations: 3 + 4, 7 - 3 and counting on from 3 by 4 belong together, as do 3 x 4 and 12 / 3.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headatlas.suites.cognitive.drafting import Draft, fill
from headatlas.suites.example import Example

TASK = "Math Calculation"
OPTIONS = 4
TERMS = 4  # of a sequence stand in the prompt

NAMES = ("Anna", "Tom", "Lucy", "Mark", "Emma", "Jack", "Sarah", "Peter", "Alice", "David", "Mary", "Paul")
ITEMS = ("apples", "books", "coins", "pens", "cards", "stamps", "shells", "eggs", "balls", "cups", "keys", "plums")
HOLDERS = ("boxes", "bags", "baskets", "crates", "bowls")
SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
CHANGES = (-2, -1, 1, 2)  # of a number, for the twin
# How far wrong options may lie from a small answer, a large one, and a double.
NEAR, FARTHER, EVEN = (1, 2, 3, 4, 5), (1, 2, 3, 10, 20), (2, 4, 6, 8, 10)
SPELLED = range(1, 21)  # answers that are one short word

# Sentences to set a calculation in a scene, or a story before its numbers. They are used in this order.
SCENE = (
    ("{name} sits at the table with a pencil.", "{name} stands at the board in class.", "{name} is doing the homework.",
     "{name} opens the exercise book.", "{name} helps a friend with a task.", "{name} has more work to do."),
    ("The room is quiet.", "Nobody is talking.", "The window is open.", "It is warm, and the door stands wide open."),
    ("The teacher is in no hurry.", "No paper is left.", "The bell will ring, but not just yet.", "The page is full."),
    ("Everyone may think for a while.", "The task has to be done in the head.", "A friend is looking on."),
    ("This task looks harder than it really is.", "The class has seen such tasks.", "Such a task is new."),
    ("So it goes like this.", "And now the work can really begin.", "The task is this."),
)  # fmt: skip
STORY = (
    ("It is a warm and sunny day.", "It is raining again.", "The day has just begun.", "It is early in the afternoon."),
    ("Everyone in the street is at home.", "The children are free today.", "There is a lot of work to do."),
    ("Some things have to be counted.", "Nothing must be lost or forgotten.", "Somebody keeps a list of it all."),
)

Numbers = tuple[int, ...]


@dataclass(frozen=True)
class Operation:
    """How numbers are drawn at a level, what they give (0 if nothing proper), and their family."""

    sign: str
    draw: Callable[[random.Random, int], Numbers]
    solve: Callable[[Numbers], int]
    group: Callable[[Numbers], str]


def _family(kind: str, *parts: int) -> str:
    return "-".join([f"math-calculation/{kind}", *map(str, sorted(parts))])


def _addends(rng: random.Random, level: int) -> Numbers:
    if level == 1:
        return rng.randint(2, 9), rng.randint(2, 9)
    if level == 2:
        return rng.randint(12, 59), rng.randint(5, 39)
    return rng.randint(13, 79), rng.randint(13, 59), rng.randint(13, 59)


def _taken(rng: random.Random, level: int) -> Numbers:
    left, *taken = _addends(rng, level)
    return (left + sum(taken), *taken)


def _factors(rng: random.Random, level: int) -> Numbers:
    low, high = {1: (2, 9), 2: (11, 19), 3: (23, 69)}[level]
    return rng.randint(low, high), rng.randint(2, 9)


def _shared(rng: random.Random, level: int) -> Numbers:
    share, count = _factors(rng, level)
    return share * count, count


def _divide(numbers: Numbers) -> int:
    whole, count = numbers
    return whole // count if whole % count == 0 else 0


SUM = Operation("+", _addends, sum, lambda n: _family("sum", *n))
DIFFERENCE = Operation(
    "-", _taken, lambda n: max(0, n[0] - sum(n[1:])), lambda n: _family("sum", n[0] - sum(n[1:]), *n[1:])
)
PRODUCT = Operation("x", _factors, lambda n: n[0] * n[1], lambda n: _family("product", *n))
QUOTIENT = Operation("/", _shared, _divide, lambda n: _family("product", n[1], n[0] // n[1]))


def _shared_below_100(rng: random.Random, level: int) -> Numbers:
    count = rng.randint(3, 9)
    return count * rng.randint(5, min(20, 99 // count)), count


QUOTIENT_BELOW_100 = Operation("/", _shared_below_100, QUOTIENT.solve, QUOTIENT.group)


def _doubled(rng: random.Random, level: int) -> Numbers:
    if level == 3:
        return rng.randint(23, 79), rng.randint(13, 59)
    return (rng.randint(2, 24) if level == 1 else rng.randint(26, 99),)


DOUBLE = Operation(
    "",
    _doubled,
    lambda n: n[0] + sum(n),
    lambda n: _family("product", 2, n[0]) if len(n) == 1 else _family("sum", *n, n[0]),
)


def _first_terms(numbers: Numbers) -> Numbers:
    start, step = numbers
    return tuple(start + i * step for i in range(TERMS))


def _start_up(rng: random.Random, level: int) -> Numbers:
    return rng.randint(1, (20, 60, 400)[level - 1]), rng.randint(*((1, 5), (3, 9), (11, 29))[level - 1])


def _start_down(rng: random.Random, level: int) -> Numbers:
    end, step = _start_up(rng, level)
    return end + TERMS * step, -step


def _next_term(numbers: Numbers) -> int:
    return max(0, numbers[0] + TERMS * numbers[1])


def _step_group(numbers: Numbers) -> str:
    """The last shown term and the step make the next term: the sum of the two smaller numbers of the three."""
    *_, last = _first_terms(numbers)
    return _family("sum", abs(numbers[1]), min(last, last + numbers[1]))


COUNT_ON = Operation("", _start_up, _next_term, _step_group)
COUNT_DOWN = Operation("", _start_down, _next_term, _step_group)


def _spell(number: int) -> str:
    tens, ones = divmod(number, 10)
    return SMALL[number] if number < len(SMALL) else TENS[tens] + (f"-{SMALL[ones]}" if ones else "")


def _steps(operation: Operation, numbers: Numbers, answer: int) -> Sequence[int]:
    """How far wrong options lie from the answer; those of a product are mostly products, those of a double even."""
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
        # What is shared can only change by whole rounds.
        changed = numbers[i] + rng.choice(CHANGES) * (numbers[1] if operation.sign == "/" and i == 0 else 1)
        if abs(changed) < 2 or len(str(changed)) != len(str(numbers[i])):
            continue
        twin = (*numbers[:i], changed, *numbers[i + 1 :])
        twin_answer = operation.solve(twin)
        if fits(answer) and fits(twin_answer) and twin_answer != answer:
            wrong = _near(rng, answer, twin_answer, _steps(operation, numbers, answer), fits)
            if len(wrong) == OPTIONS - 1:
                break
    text = _spell if spelled else str
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
    kept = [0, *sorted(rng.sample(range(1, len(SCENE)), count - 1))]
    return " ".join(rng.choice(SCENE[i]) for i in kept).format(name=rng.choice(NAMES))


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
        first, second = map(_spell, numbers)
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
        lambda n: f"{scene} Count on in equal steps: {', '.join(map(str, _first_terms(n)))},", _first_terms,
    )  # fmt: skip


def count_down(rng: random.Random, level: int) -> Draft:
    """The next number of a falling sequence with even steps."""
    scene = _scene(rng, level)
    return _draft(
        rng, level, "count-down", COUNT_DOWN,
        lambda n: f"{scene} Count down in equal steps: {', '.join(map(str, _first_terms(n)))},", _first_terms,
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
        group=_family("compare", *numbers),
        template="ask-extreme",
    )


MAKERS = (
    add, gain, ask_product, count_on, subtract, share, multiply, ask_extreme, divide, packs, ask_sum, count_down,
    in_words, loss, ask_quotient, double,
)  # fmt: skip


def generate(seed: int, n: int, level: int) -> list[Example]:
    return fill(TASK, MAKERS, seed, n, level)
