"""Prompts are pieces of the passages, and no wrong word could pass for the right one by its form or its place."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import numpy as np
import pytest

from headatlas.errors import HeadAtlasError
from headatlas.suites.cognitive.drafting import LEAD_INS, LENGTHS
from headatlas.suites.example import Example
from headatlas.suites.neutral import generate as neutral
from headatlas.suites.neutral.generate import TASK, generate
from headatlas.suites.neutral.passages import PASSAGES, WORDS
from headatlas.suites.suite import Suite, to_jsonl

SIZE = 300
LEVELS = (1, 2, 3)
HOMES = {
    word: (form, field) for form, fields in WORDS.items() for field, text in fields.items() for word in text.split()
}


@cache
def examples(level: int) -> list[Example]:
    return generate(0, SIZE, level)


def passage(example: Example) -> str:
    return PASSAGES[int(example.group.removeprefix("neutral/passage-"))]


@pytest.mark.parametrize("level", LEVELS)
def test_prompt_and_answer_are_text_of_the_passage(level: int) -> None:
    for e in examples(level):
        told = {e.prompt.removeprefix(f"{lead_in} ") for lead_in in LEAD_INS if e.prompt.startswith(f"{lead_in} ")}
        pieces = [text for text in (e.prompt, *told) if text in passage(e)]
        assert pieces, e.prompt
        piece = max(pieces, key=len)
        before, after = passage(e).split(piece, 1)
        assert before == "" or before.endswith(". "), e.prompt
        assert re.match(rf"{e.answer}[ ,.]", after), (e.prompt, e.answer)
        assert len(piece) >= 45


@pytest.mark.parametrize("level", LEVELS)
def test_wrong_words_have_the_form_and_length_but_not_the_field(level: int) -> None:
    for e in examples(level):
        form, field = HOMES[e.answer.strip()]
        assert e.template == f"next-{form}"
        assert len(e.distractors) == 3
        words = {word.strip(",.").lower() for word in passage(e).split()}
        fields = [HOMES[word.strip()] for word in e.distractors]
        assert len(set(fields)) == 3, e.distractors
        for word, home in zip(e.distractors, fields, strict=True):
            assert home[0] == form
            assert home[1] != field
            assert word.strip() not in words
            assert abs(len(word) - len(e.answer)) <= 7, (e.answer, word)
            if e.prompt.split()[-1] in ("a", "an"):
                assert (word[1] in "aeiou") == (e.prompt.split()[-1] == "an"), e
    answers = np.mean([len(e.answer) for e in examples(level)])
    wrong = np.mean([len(word) for e in examples(level) for word in e.distractors])
    assert abs(answers - wrong) < 0.5


@pytest.mark.parametrize("level", LEVELS)
def test_lengths_are_those_of_the_other_functions(level: int) -> None:
    lengths = np.array([len(e.prompt) for e in examples(level)])
    mean, spread = LENGTHS[level]
    assert lengths.mean() == pytest.approx(mean, abs=0.25 * spread)
    assert lengths.std() == pytest.approx(spread, rel=0.2)


@pytest.mark.parametrize("level", LEVELS)
def test_there_are_enough_places_groups_and_answers(level: int) -> None:
    prompts = {e.prompt for e in examples(level)}
    groups = Counter(e.group for e in examples(level))
    assert len(examples(level)) == len(prompts) == SIZE
    assert len({e.id for e in examples(level)}) == SIZE
    assert len(groups) >= 60
    assert max(groups.values()) <= 6
    assert len({(e.group, e.answer) for e in examples(level)}) > {1: 0.9, 2: 0.9, 3: 0.6}[level] * SIZE
    assert Counter(e.answer for e in examples(level)).most_common(1)[0][1] < 0.05 * SIZE
    assert all(e.task == TASK and e.level == level and e.counterfactual is None for e in examples(level))


def test_the_examples_can_be_split() -> None:
    splits = Suite("neutral", tuple(examples(1))).split()
    assert min(len(split.examples) for split in splits.values()) > 0.25 * SIZE


def test_the_same_arguments_give_the_same_bytes_and_another_seed_others() -> None:
    assert to_jsonl(generate(2, 40)) == to_jsonl(generate(2, 40))
    assert to_jsonl(generate(2, 40)) != to_jsonl(generate(3, 40))


def test_more_can_be_asked_for_but_not_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len({e.prompt for e in generate(1, 1500)}) == 1500
    monkeypatch.setattr(neutral, "PASSAGES", PASSAGES[:1])
    with pytest.raises(HeadAtlasError, match=r"9000 examples of Neutral were asked for, but only \d+ different ones"):
        generate(1, 9000)


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(HeadAtlasError, match="Level 4 was asked for, but `level` must be one of 1, 2, 3"):
        generate(0, 10, 4)
