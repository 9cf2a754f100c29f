from __future__ import annotations

import re
from collections import Counter

import pytest

from headatlas.errors import HeadAtlasError
from headatlas.suites.chains import generate as generator
from headatlas.suites.chains.chain import chain_examples
from headatlas.suites.chains.generate import FAMILIES, generate
from headatlas.suites.cognitive.functions import HIGH, LOW
from headatlas.suites.suite import to_jsonl
from tests.suites.chains.reading import ABOUT_LANGUAGE, SEEDS, SIZE, chains, everything, family, find


def test_asked_words_and_pronouns_are_in_the_text() -> None:
    for chain in everything():
        for step in chain.steps:
            if step.task in ABOUT_LANGUAGE:
                (word,) = re.findall(r'"(\w+)"', step.question)
                assert re.search(rf"\b{word}\b", chain.question, re.I), chain
            if step.task == "Semantic Understanding":
                assert not re.search(rf"\b{step.answer}\b", chain.question), chain
            if step.task == "Syntactic Understanding":
                # Once only, or it would not be clear which one is meant; names may have a second one in the question.
                told = chain.question.rsplit(". ", 1)[0]
                assert len(re.findall(rf"\b{word}\b", told)) == 1 or family(chain) == "kinds", chain
                for option in (step.answer, *step.distractors):
                    assert re.search(rf"\b{option}\b", chain.question), (chain, option)


def test_steps_go_from_low_to_high() -> None:
    for chain in everything():
        tasks = [step.task for step in chain.steps]
        assert 3 <= len(tasks) <= 6
        assert len(set(tasks)) >= 3
        high = [task in HIGH for task in tasks]
        assert all(task in LOW + HIGH for task in tasks)
        assert high == sorted(high)
        assert True in high
        assert False in high


def test_steps_and_options_are_well_formed() -> None:
    for chain in everything():
        assert chain.question.endswith("?")
        assert 2 <= len(re.findall(r"[.?](?= |$)", chain.question)) <= 5, chain.question
        assert "  " not in chain.question
        assert not re.search(r"[{}]|\ba [aeiou]|\ban [^aeiou]|\b1 (hours|minutes|dollars)\b", chain.question), chain
        for step in chain.steps:
            assert step.question.endswith("?")
            assert 2 <= len(step.distractors) <= 3
            options = (step.answer, *step.distractors)
            assert len(set(options)) == len(options)
            assert all(1 <= len(option.split()) <= 3 for option in options)
            assert len({option.isdigit() for option in options}) == 1, step
            assert step.answer.lower() not in ("yes", "no")


def test_there_are_enough_chains_families_and_groups() -> None:
    groups = Counter(chain.group for chain in chains())
    assert len({chain.question for chain in chains()}) == SIZE
    assert len(groups) >= 40
    assert max(groups.values()) <= 0.05 * SIZE
    assert len({family(chain) for chain in chains()}) == len(FAMILIES) == 12


@pytest.mark.parametrize("seed", SEEDS)
def test_all_functions_occur_and_no_answer_is_frequent(seed: int) -> None:
    for task in LOW + HIGH:
        assert sum(any(step.task == task for step in chain.steps) for chain in chains(seed)) >= 0.15 * SIZE, task
        answers = Counter(step.answer for chain in chains(seed) for step in chain.steps if step.task == task)
        assert answers.most_common(1)[0][1] <= 0.1 * answers.total(), (task, answers.most_common(1))


def test_the_position_of_an_option_does_not_give_the_answer_away() -> None:
    """Where the text names all options of the last step, the first and the last are right as often as by chance."""
    first = last = chance = 0.0
    for chain in everything():
        step = chain.steps[-1]
        told = chain.question.rsplit(". ", 1)[0]
        options = [o for o in (step.answer, *step.distractors) if re.search(rf"\b{o}\b", told)]
        if step.task in ("Decision-making", "Logical Reasoning") and len(options) >= 3:
            options.sort(key=lambda o: find(rf"\b{o}\b", told).start())
            first, last = first + (options[0] == step.answer), last + (options[-1] == step.answer)
            chance += 1 / len(options)
    assert chance > 100
    assert abs(first - chance) < 0.25 * chance, (first, chance)
    assert abs(last - chance) < 0.25 * chance, (last, chance)


def test_no_fact_and_no_asked_word_is_in_two_groups() -> None:
    groups_of_text: dict[tuple[str, str], set[str]] = {}
    for chain in everything():
        for step in chain.steps:
            if step.task in ("Knowledge Recall", "Semantic Understanding"):
                groups_of_text.setdefault((step.task, step.question), set()).add(chain.group)
                groups_of_text.setdefault((step.task, step.answer), set()).add(chain.group)
            if step.task == "Inference":
                groups_of_text.setdefault((step.task, step.answer), set()).add(chain.group)
    assert [key for key, groups in groups_of_text.items() if len(groups) > 1] == []


def test_the_same_arguments_give_the_same_bytes_and_another_seed_others() -> None:
    def written(seed: int, n: int) -> str:
        return to_jsonl(example for chain in generate(seed, n) for example in chain_examples(chain))

    assert written(3, 40) == written(3, 40)
    assert written(3, 40) != written(4, 40)
    assert [chain.question for chain in generate(3, 40)] == [chain.question for chain in generate(3, 80)[:40]]


def test_more_can_be_asked_for() -> None:
    many = generate(5, 1000)
    assert len({chain.question for chain in many}) == len({chain.id for chain in many}) == 1000


def test_a_used_up_supply_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    told = everything()[0]
    monkeypatch.setattr(generator, "FAMILIES", ([("one", lambda rng: (told.question, list(told.steps)))],))
    with pytest.raises(HeadAtlasError, match="2 chains were asked for, but only 1 different ones could be generated"):
        generate(0, 2)
