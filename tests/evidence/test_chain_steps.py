"""Taking chains apart, and putting prompts together from other answers."""

import pytest

from headatlas.errors import HeadAtlasError
from headatlas.evidence.chain_steps import take_apart
from headatlas.suites import load_suite
from tests import tiny
from tests.evidence.chains import chain


def test_the_prompts_of_a_chain_are_rejoined_from_its_answers():
    (steps,) = take_apart(reversed(chain("c")))
    assert [example.step for example in steps.examples] == [0, 1, 2, 3, 4]
    answers = [example.answer for example in steps.examples]
    for number, example in enumerate(steps.examples):
        assert steps.prompt(answers[:number]) == example.prompt
    assert steps.prompt([" blue", " nine"]) == "the red box is blue and the two is nine\nthe key is in the"


def test_the_built_in_chains_come_apart_and_together():
    apart = take_apart(load_suite("chains").examples)
    assert len(apart) == 200
    for steps in apart:
        answers = [example.answer for example in steps.examples]
        assert [steps.prompt(answers[:i]) for i in range(len(answers))] == [e.prompt for e in steps.examples]


def test_chains_come_in_the_order_of_their_names_and_single_examples_are_no_chain():
    apart = take_apart([*chain("b"), *tiny.suite().examples, *chain("a")])
    assert [steps.examples[0].chain for steps in apart] == ["a", "b"]


def test_a_missing_step_is_named():
    broken = [example for example in chain("c") if example.step != 1]
    with pytest.raises(HeadAtlasError, match=r"^Chain 'c' has the steps 0, 2, 3, 4: step 1 is missing. Steps count"):
        take_apart(broken)


def test_a_step_that_is_there_twice_is_named():
    steps = chain("c")
    twice = [*steps, steps[2].model_copy(update={"id": "again"})]
    with pytest.raises(HeadAtlasError, match=r"^Chain 'c' has the steps 0, 1, 2, 2, 3, 4: a step is there twice"):
        take_apart(twice)


def test_a_prompt_that_does_not_go_on_where_the_one_before_ended_is_named():
    steps = chain("c")
    steps[2] = steps[2].model_copy(update={"prompt": "something else"})
    with pytest.raises(HeadAtlasError, match="Chain 'c': the prompt of step 2 does not begin with the prompt and the"):
        take_apart(steps)
