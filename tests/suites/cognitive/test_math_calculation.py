"""Every answer is worked out again from the text of the prompt alone."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise

import pytest

from headatlas.suites.cognitive.math_calculation import ask_extreme, generate
from headatlas.suites.example import Example

LEVELS = (1, 2, 3)
UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen"""
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
WORDS = dict(zip(re.findall(r"\w+", UNITS), range(20), strict=True))
WORDS |= dict(zip(re.findall(r"\w+", TENS), range(20, 100, 10), strict=True))


@cache
def examples(level: int) -> list[Example]:
    return [example for seed in (0, 7, 1234) for example in generate(seed, 96, level)]


def value(text: str) -> int:
    """The number that figures or words such as " forty-two" stand for."""
    return int(text) if text.strip().isdigit() else sum(WORDS[part] for part in text.strip().lower().split("-"))


def numbers(prompt: str) -> list[int]:
    return [int(figures) for figures in re.findall(r"\d+", prompt)]


def calculate(task: str) -> int:
    """A chain such as "99 - 34 - 30", from left to right."""
    first, *rest = task.split()
    result = int(first)
    for sign, number in zip(rest[::2], map(int, rest[1::2]), strict=True):
        if sign == "/":
            assert result % number == 0
        result = {"+": result + number, "-": result - number, "x": result * number, "/": result // number}[sign]
    return result


def solve(prompt: str, template: str) -> int:
    if written := re.search(r"(\d+(?: [-+x/] \d+)+) =$", prompt):
        return calculate(written[1])
    if template == "in-words":
        first, sign, second = re.search(r"([A-Z][-a-z]+) (times|minus|divided by) ([-a-z]+) equals$", prompt).groups()
        sign = {"times": "x", "minus": "-", "divided by": "/"}[sign]
        return calculate(f"{value(first)} {sign} {value(second)}")
    given = numbers(prompt)
    if template in ("count-on", "count-down"):
        (step,) = {after - before for before, after in pairwise(given)}
        assert (step > 0) == (template == "count-on")
        return given[-1] + step
    if template == "ask-extreme":
        return max(given) if "largest" in prompt else min(given)
    if template == "double":
        return 2 * given[0] + sum(given[1:])
    sign = {"gain": " + ", "loss": " - ", "packs": " x ", "share": " / "}[template]
    return calculate(sign.join(map(str, given)))


@pytest.mark.parametrize("level", LEVELS)
def test_answers_are_what_the_prompts_work_out_to(level: int) -> None:
    for e in examples(level):
        assert solve(e.prompt, e.template) == value(e.answer), e.prompt
        assert solve(e.counterfactual.prompt, e.template) == value(e.counterfactual.answer), e.counterfactual.prompt


@pytest.mark.parametrize("level", LEVELS)
def test_options_are_distinct_numbers_of_equal_length_that_the_prompt_does_not_show(level: int) -> None:
    for e in examples(level):
        options = [value(text) for text in (e.answer, *e.distractors)]
        assert len(set(options)) == 4
        assert min(options) > 0
        assert len({len(str(option)) for option in options}) == 1, (e.prompt, options)
        assert value(e.counterfactual.answer) in options
        if e.template == "ask-extreme":
            assert sorted(options) == sorted(numbers(e.prompt))
        else:
            task = e.prompt.rsplit(". ", 1)[-1].lower().split()
            shown = {*numbers(e.prompt), *(value(word) for word in task if word.split("-")[0] in WORDS)}
            assert not shown & set(options), (e.prompt, options)


def test_small_stories_calculate_with_their_own_numbers() -> None:
    stories = [e for e in examples(1) if e.template in ("gain", "loss", "packs", "share", "ask-sum")]
    assert len(stories) > 60
    for e in stories:
        told, written = numbers(e.prompt)[:2], numbers(e.prompt)[2:]
        assert told == written, e.prompt


@pytest.mark.parametrize("level", LEVELS)
def test_twins_change_one_number(level: int) -> None:
    for e in examples(level):
        pairs = list(zip(e.prompt.split(), e.counterfactual.prompt.split(), strict=True))
        changes = {pair for pair in pairs if pair[0] != pair[1]}
        assert all(value(old.strip(",.?")) and value(new.strip(",.?")) for old, new in changes)
        if not e.template.startswith("count"):  # a sequence changes with its start or its step
            assert len({(old.strip("?"), new.strip("?")) for old, new in changes}) == 1, changes


@pytest.mark.parametrize("level", LEVELS)
def test_a_group_is_one_family_of_numbers(level: int) -> None:
    families = defaultdict(set)
    groups = defaultdict(set)
    for e in examples(level):
        if e.template in ("ask-extreme", "double", "in-words"):
            continue
        given = numbers(e.prompt)
        if e.template.startswith("count"):
            given = [abs(given[-1] - given[-2]), given[-1]]
        elif e.template.startswith("ask") or (level == 1 and e.template in ("gain", "loss", "packs", "share")):
            given = given[: len(given) // 2]
        kind = re.match(r"math-calculation/(\w+)-", e.group)[1]
        family = tuple(sorted([*given, value(e.answer)]))
        families[e.group].add(family)
        groups[kind, family].add(e.group)
    assert all(len(found) == 1 for found in families.values())
    assert all(len(found) == 1 for found in groups.values())
    assert {kind for kind, _ in groups} == {"sum", "product"}


@pytest.mark.parametrize("level", LEVELS)
def test_the_size_of_an_option_does_not_give_the_answer_away(level: int) -> None:
    ranks = Counter(
        sum(value(d) < value(e.answer) for d in e.distractors) for e in examples(level) if e.template != "ask-extreme"
    )
    assert all(0.15 < ranks[rank] / ranks.total() < 0.35 for rank in range(4)), ranks


@pytest.mark.parametrize("level", LEVELS)
def test_largest_and_smallest_are_found_at_any_place(level: int) -> None:
    rng = random.Random(level)
    compared = [ask_extreme(rng, level) for _ in range(400)]
    places = Counter(numbers(draft.prompt).index(value(draft.answer)) for draft in compared)
    asked = Counter("largest" in draft.prompt for draft in compared)
    assert all(70 < places[place] < 130 for place in range(4)), places
    assert 160 < asked[True] < 240, asked
