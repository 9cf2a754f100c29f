from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from headatlas.errors import HeadAtlasError, UsageError
from headatlas.suites.cognitive.drafting import LEAD_INS, LENGTHS, Draft, fill


def maker(name: str, answers: int):
    """A maker whose drafts have a number for a prompt and one of several answers."""

    def make(rng: random.Random, level: int) -> Draft:
        number = rng.randrange(10**6)
        text = f"The {name} number {number} {'is in this row ' * rng.randint(2 * level, 6 * level)}and means"
        answer = f" w{rng.randrange(answers)}"
        return Draft(text, answer, (" x", " y"), text.replace("The", "A"), " twin", f"group/{number}", name)

    return make


@pytest.mark.parametrize("level", LENGTHS)
def test_examples_are_distinct_and_have_the_shared_length(level: int) -> None:
    examples = fill("My Task", (maker("first", 40), maker("second", 40)), 0, 200, level)
    assert len({example.prompt for example in examples}) == 200
    assert [example.template for example in examples[:4]] == ["first", "second", "first", "second"]
    assert examples[7].id == f"my-task-{level}-0-00007"
    mean, deviation = LENGTHS[level]
    lengths = np.array([len(example.prompt) for example in examples])
    assert lengths.mean() == pytest.approx(mean, abs=deviation)
    assert lengths.std() < 3 * deviation


def test_prompt_and_twin_have_the_same_lead_in() -> None:
    for example in fill("task", (maker("only", 40),), 0, 60, 1):
        opening, _ = example.prompt.split("The only number")
        twin_opening, _ = example.counterfactual.prompt.split("A only number")
        assert opening == twin_opening
        assert opening.strip() in LEAD_INS


def test_no_answer_takes_more_than_seven_percent() -> None:
    answers = Counter(example.answer for example in fill("task", (maker("only", 16),), 0, 100, 1))
    assert max(answers.values()) == 7


def test_a_used_up_supply_is_an_error() -> None:
    def few(rng: random.Random, level: int) -> Draft:
        number = rng.randrange(20)
        return Draft(f"Number {number} is", f" w{number}", (" x", " y"), f"Number {number} was", " twin", "g", "few")

    with pytest.raises(HeadAtlasError, match="50 examples of task at level 1 were asked for, but only 20 "):
        fill("task", (few,), 0, 50, 1)


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(UsageError, match="Level 7 was asked for, but `level` must be one of 1, 2, 3"):
        fill("task", (maker("only", 40),), 0, 10, 7)
