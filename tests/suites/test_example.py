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
        ({"answers": " blue"}, "Extra inputs are not permitted"),
    ],
)
def test_a_bad_field_is_refused(fields, message):
    with pytest.raises(ValidationError, match=message):
        Example(**FIELDS | fields)


def test_examples_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        Example(**FIELDS).answer = " red"
