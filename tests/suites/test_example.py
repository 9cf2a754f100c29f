import pytest
from pydantic import ValidationError

from headatlas.suites.example import Example

FIELDS = {"id": "1", "task": "t", "prompt": "The sky is", "answer": " blue", "group": "g"}


def test_only_what_is_needed_must_be_given():
    example = Example(**FIELDS)
    assert example.distractors == ()
    assert {example.counterfactual, example.template, example.level, example.chain, example.step} == {None}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"prompt": " \n"}, "is blank"),
        ({"distractors": (" red", "\t")}, "contains a blank option"),
        ({"distractors": (" red", "red ")}, "contains the same option twice"),
        ({"distractors": ("blue",)}, "distractors contain the answer ' blue'"),
        ({"counterfactual": {"prompt": "The sky is ", "answer": " red"}}, "has the same prompt; change in it what"),
        ({"counterfactual": {"prompt": "Grass is", "answer": "blue"}}, "same answer ' blue'; it must have another"),
        ({"counterfactual": {"prompt": "", "answer": " green"}}, "at least 1 character"),
        ({"counterfactual": {"prompt": "Grass is", "answer": "\t"}}, r"counterfactual.answer\n.*is blank"),
        ({"counterfactual": {"prompt": "  ", "answer": " green"}}, r"counterfactual.prompt\n.*is blank"),
        (
            {"counterfactual": {"prompt": "Water is", "answer": " blue green"}},
            "' blue green' where the answer is ' blue'",
        ),
        (
            {"answer": " 57", "counterfactual": {"prompt": "5 +", "answer": " 5"}},
            "one begins the other, and the shorter",
        ),
        ({"answers": " blue"}, "Extra inputs are not permitted"),
    ],
)
def test_a_bad_field_is_refused(fields, message):
    with pytest.raises(ValidationError, match=message):
        Example(**FIELDS | fields)


def test_forms_of_one_word_are_good_twins():
    """ " dig" and " digs" are single tokens in most tokenizers; where they are not, the map leaves the example out."""
    twin = {"prompt": "The sky often", "answer": " blues"}
    assert Example(**FIELDS | {"counterfactual": twin}).counterfactual.answer == " blues"


def test_examples_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        Example(**FIELDS).answer = " red"
