"""Every answer is implied by its side of the clue, never said, and no other option is implied or out of kind."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from headatlas.suites.cognitive.inference import MEN, WOMEN, generate, side
from headatlas.suites.cognitive.inference_situations import KINDS
from headatlas.suites.example import Example

EXAMPLES = [example for level in (1, 2, 3) for seed in (0, 1) for example in generate(seed, 240, level)]
SITUATIONS = [(kind, situation) for kind in KINDS.values() for situation in kind.situations]


def words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


def impersonal(text: str) -> str:
    """The words of a prompt or of a clue without names, pronouns and placeholders, which depend on the person."""
    people = {name.lower() for name in MEN + WOMEN} | {"he", "she", "him", "her", "his"}
    return " ".join(word for word in words(re.sub(r"\{\w+\}", " ", text)) if word not in people)


TOLD = {
    name: [
        (situation.answers[which], f" {impersonal(side(clue, which))} ")
        for situation in kind.situations
        for clue in (situation.plain, situation.subtle)
        for which in (0, 1)
    ]
    for name, kind in KINDS.items()
}


def sides_found(prompt: str, template: str) -> list[str]:
    """The answers whose side of a clue stands in the prompt, found from the table and not from the example."""
    text = f" {impersonal(prompt)} "
    return [answer for answer, told in TOLD[template.split("-")[0]] if told in text]


@pytest.mark.parametrize("level", [1, 2, 3])
def test_answer_belongs_to_the_side_that_is_told(level: int) -> None:
    for example in (e for e in EXAMPLES if e.level == level):
        twin = example.counterfactual
        assert twin
        assert sides_found(example.prompt, example.template or "") == [example.answer.strip()]
        assert sides_found(twin.prompt, example.template or "") == [twin.answer.strip()]
        assert twin.answer in example.distractors


def test_answer_is_not_said() -> None:
    for example in EXAMPLES:
        assert example.counterfactual
        for prompt in (example.prompt, example.counterfactual.prompt):
            assert not {example.answer.strip().lower(), example.counterfactual.answer.strip().lower()} & set(
                words(prompt)
            )


def test_twins_have_the_same_number_of_words() -> None:
    for example in EXAMPLES:
        assert example.counterfactual
        assert len(example.prompt.split()) == len(example.counterfactual.prompt.split())


def test_pronouns_fit_the_person() -> None:
    def person(example: Example) -> str:
        return next(w for w in reversed(re.findall(r"[A-Z][a-z]+", example.prompt)) if w in MEN + WOMEN)

    # The rest of the cast ("the doctor", "she would never come home") also has pronouns, so only {his} is compared.
    for example in EXAMPLES:
        if re.search(r"\bhis\b", example.prompt):
            assert person(example) in MEN, example.prompt


def test_level_one_names_no_option_and_level_three_always_names_a_wrong_one() -> None:
    for example in EXAMPLES:
        named = [option for option in example.distractors if option.strip().lower() in words(example.prompt)]
        assert len(named) >= 1 if example.level == 3 else example.level == 2 or not named, example.prompt


def test_every_answer_belongs_to_one_situation() -> None:
    answers = Counter(answer for _, situation in SITUATIONS for answer in situation.answers)
    assert len(SITUATIONS) >= 48
    assert set(answers.values()) == {1}


def test_wrong_words_are_neither_answers_of_their_situation_nor_of_another_kind() -> None:
    others = {"Saturday", "Sunday", "April", "June"}
    for kind, situation in SITUATIONS:
        same_kind = {answer for each in kind.situations for answer in each.answers}
        assert not set(situation.wrong) & set(situation.answers)
        assert set(situation.wrong) <= same_kind | others


def test_articles_fit_every_option() -> None:
    for name in ("job", "need", "event"):
        for situation in KINDS[name].situations:
            assert not any(word[0] in "aeiou" for word in situation.answers + situation.wrong)
