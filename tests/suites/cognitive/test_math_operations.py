from __future__ import annotations

import random

import pytest

from headatlas.suites.cognitive import math_operations
from headatlas.suites.cognitive.math_operations import (
    COUNT_DOWN,
    COUNT_ON,
    DIFFERENCE,
    DOUBLE,
    PRODUCT,
    QUOTIENT,
    SUM,
    Operation,
    first_terms,
    spell,
)


def test_results_by_hand() -> None:
    assert SUM.solve((3, 4, 5)) == 12
    assert (DIFFERENCE.solve((9, 2, 3)), DIFFERENCE.solve((3, 9))) == (4, 0)
    assert PRODUCT.solve((3, 4)) == 12
    assert (QUOTIENT.solve((12, 4)), QUOTIENT.solve((13, 4))) == (3, 0)
    assert (DOUBLE.solve((7,)), DOUBLE.solve((7, 3))) == (14, 17)
    assert first_terms((5, 3)) == (5, 8, 11, 14)
    assert (COUNT_ON.solve((5, 3)), COUNT_DOWN.solve((20, -3))) == (17, 8)


def test_calculations_with_the_same_numbers_are_one_group() -> None:
    assert SUM.group((4, 3)) == SUM.group((3, 4)) == DIFFERENCE.group((7, 3)) == DIFFERENCE.group((7, 4))
    assert COUNT_ON.group((2, 3)) == SUM.group((11, 3)) == COUNT_DOWN.group((23, -3))  # 2, 5, 8, 11; 23, 20, 17, 14
    assert PRODUCT.group((3, 4)) == QUOTIENT.group((12, 4)) == QUOTIENT.group((12, 3))
    assert DOUBLE.group((7,)) == PRODUCT.group((7, 2))
    assert DOUBLE.group((7, 3)) == SUM.group((3, 7, 7))
    assert SUM.group((3, 4)) != PRODUCT.group((3, 4))


OPERATIONS = {name: value for name, value in vars(math_operations).items() if isinstance(value, Operation)}


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("name", OPERATIONS)
def test_drawn_numbers_have_a_positive_whole_result(name: str, level: int) -> None:
    operation = OPERATIONS[name]
    rng = random.Random(0)
    drawn = {operation.draw(rng, level) for _ in range(200)}
    assert len(drawn) > 20
    assert all(operation.solve(numbers) > 0 for numbers in drawn)


def test_numbers_are_spelled_as_in_english() -> None:
    assert [spell(n) for n in (0, 13, 20, 21, 99)] == ["zero", "thirteen", "twenty", "twenty-one", "ninety-nine"]
    assert len({spell(n) for n in range(100)}) == 100
