"""The operations of math calculation: how numbers are drawn, what they give, and which calculations belong together.

A family of calculations is a group: 3 + 4, 7 - 3 and counting on from 3 by 4 belong together, as do 3 x 4 and 12 / 3.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

TERMS = 4  # of a sequence are shown in the prompt
SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

Numbers = tuple[int, ...]


@dataclass(frozen=True)
class Operation:
    """How numbers are drawn at a level, their result (0 if it is not a positive whole number), and their family."""

    sign: str
    draw: Callable[[random.Random, int], Numbers]
    solve: Callable[[Numbers], int]
    group: Callable[[Numbers], str]


def family(kind: str, *parts: int) -> str:
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


SUM = Operation("+", _addends, sum, lambda n: family("sum", *n))
DIFFERENCE = Operation(
    "-", _taken, lambda n: max(0, n[0] - sum(n[1:])), lambda n: family("sum", n[0] - sum(n[1:]), *n[1:])
)
PRODUCT = Operation("x", _factors, lambda n: n[0] * n[1], lambda n: family("product", *n))
QUOTIENT = Operation("/", _shared, _divide, lambda n: family("product", n[1], n[0] // n[1]))


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
    lambda n: family("product", 2, n[0]) if len(n) == 1 else family("sum", *n, n[0]),
)


def first_terms(numbers: Numbers) -> Numbers:
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
    *_, last = first_terms(numbers)
    return family("sum", abs(numbers[1]), min(last, last + numbers[1]))


COUNT_ON = Operation("", _start_up, _next_term, _step_group)
COUNT_DOWN = Operation("", _start_down, _next_term, _step_group)


def spell(number: int) -> str:
    tens, ones = divmod(number, 10)
    return SMALL[number] if number < len(SMALL) else TENS[tens] + (f"-{SMALL[ones]}" if ones else "")
