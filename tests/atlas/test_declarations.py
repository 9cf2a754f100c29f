"""What methods and tests say about themselves."""

import pytest
from pydantic import ValidationError

from headatlas.atlas.declarations import Measure, MethodInfo, TestInfo
from headatlas.evidence import TESTS
from headatlas.methods import METHODS

METHOD = {"name": "m", "title": "M", "summary": "s", "meaning": "m", "kind": "importance", "primary": "a"}
TEST = {"name": "t", "title": "T", "summary": "s", "question": "q", "shape": "curve"}


def measures(*names):
    return tuple(Measure(name=name, meaning="", unit="") for name in names)


def test_the_primary_measure_must_be_one_of_the_measures():
    with pytest.raises(ValidationError, match="primary 'a' is not among its measures"):
        MethodInfo(**METHOD, measures=measures("b"))


def test_which_tests_apply_follows_from_both_declarations():
    plain, roles = MethodInfo(**METHOD, measures=measures("a")), TestInfo(**TEST, needs=("a", "b"))
    both = MethodInfo(**METHOD, measures=measures("a", "b"))
    assert TestInfo(**TEST).applies_to(plain)
    assert not roles.applies_to(plain) and roles.applies_to(both)
    assert not TestInfo(**TEST).applies_to(MethodInfo(**METHOD, measures=measures("a"), tests=()))
    assert not TestInfo(**TEST).applies_to(METHODS["attention"].info), "a description claims nothing"
    assert not any(test.info.applies_to(METHODS["contrast"].info) for _, test in TESTS.items())


@pytest.mark.parametrize("name", list(METHODS))
def test_every_method_is_registered_under_its_name_and_travels_as_json(name):
    info = METHODS[name].info
    assert info.name == name
    assert MethodInfo.model_validate_json(info.model_dump_json()) == info


@pytest.mark.parametrize("name", list(TESTS))
def test_every_test_is_registered_under_its_name_and_travels_as_json(name):
    info = TESTS[name].info
    assert info.name == name
    assert TestInfo.model_validate_json(info.model_dump_json()) == info
    assert set(info.chosen) <= {control.name for control in info.controls}
