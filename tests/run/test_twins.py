"""Twins that examples come with, and twins that are lent."""

from headatlas.run.encoding import Encoder
from headatlas.run.twins import lent_twins, twins
from headatlas.suites.example import Example
from tests import tiny


def example(i: int, prompt: str, answer: str, group: str, template: str | None = None, twin=None) -> Example:
    return Example(
        id=str(i), task="t", prompt=prompt, answer=answer, group=group, template=template, counterfactual=twin
    )


def test_only_examples_with_a_twin_have_one():
    with_twin = example(0, "the key is", " red", "a", twin={"prompt": "the box is", "answer": " blue"})
    given = twins([with_twin, example(1, "the key is", " red", "b")])
    assert list(given) == ["0"]
    assert (given["0"].prompt, given["0"].answer) == ("the box is", " blue")


def test_a_lent_twin_has_the_same_length_and_template_and_another_answer_and_group():
    encoder = Encoder(tiny.model())
    examples = [
        example(0, "the key is", " red", "a", "x"),
        example(1, "the box is", " blue", "b", "x"),  # fits 0
        example(2, "the sum is", " blue", "a", "x"),  # the group of 0
        example(3, "the key of", " red", "c", "x"),  # the answer of 0
        example(4, "the box of the key is", " green", "d", "x"),  # longer
        example(5, "the two is", " green", "e", "y"),  # another template
    ]
    assert len({len(encoder.prompt_ids(e.prompt)) for e in examples if e.id != "4"}) == 1
    lent = lent_twins(examples, encoder)
    assert lent["0"].prompt == "the box is"
    assert "4" not in lent and "5" not in lent, "there is none like them"
    for item in examples[:4]:
        other = next(e for e in examples if e.prompt == lent[item.id].prompt)
        assert other.group != item.group and other.answer != item.answer and other.template == item.template


def test_an_answer_that_begins_the_other_is_not_lent():
    encoder = Encoder(tiny.model())
    examples = [example(0, "the key is", " 5", "a"), example(1, "the box is", " 57", "b")]
    assert lent_twins(examples, encoder) == {}
    examples.append(example(2, "the sum is", " 7", "c"))
    assert lent_twins(examples, encoder)["0"].answer == " 7"


def test_lending_does_not_depend_on_the_order_of_the_file():
    encoder, examples = Encoder(tiny.model()), list(tiny.suite(24).of("Colours"))
    assert lent_twins(examples, encoder) == lent_twins(examples[::-1], encoder)
