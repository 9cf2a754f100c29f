from __future__ import annotations

from headatlas.suites.chains.chain import Chain, Step, chain_examples, step_prompt, step_question

STEPS = (
    Step("How many cats are there?", "3", "Finding", ("4", "5")),
    Step("How many paws are that?", "12", "Counting", ("16",)),
)
CHAIN = Chain("c1", "There are 3 cats.\nHow many paws?", "12", STEPS, "cats")


def test_a_prompt_holds_the_question_the_given_answers_and_the_step() -> None:
    assert step_prompt(CHAIN, 0, ()) == (
        "Question: There are 3 cats.\nHow many paws?\nStep 1: How many cats are there? Answer:"
    )
    assert step_prompt(CHAIN, 1, ("7",)) == (
        "Question: There are 3 cats.\nHow many paws?\nStep 1: How many cats are there? Answer: 7\n"
        "Step 2: How many paws are that? Answer:"
    )


def test_there_is_one_example_per_step_with_the_right_earlier_answers() -> None:
    first, second = chain_examples(CHAIN)
    assert [(e.id, e.task, e.chain, e.step, e.group) for e in (first, second)] == [
        ("c1-0", "Finding", "c1", 0, "cats"),
        ("c1-1", "Counting", "c1", 1, "cats"),
    ]
    assert (first.answer, first.distractors) == (" 3", (" 4", " 5"))
    assert second.prompt.startswith(f"{first.prompt}{first.answer}\n")


def test_the_question_of_a_step_is_read_back_from_its_prompt() -> None:
    assert [step_question(example.prompt) for example in chain_examples(CHAIN)] == [s.question for s in STEPS]
