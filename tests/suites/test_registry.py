"""Built-in suites by name, and the suites that a user adds."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from headatlas.errors import HeadAtlasError, UsageError
from headatlas.suites import SUITES, load_suite, register_suite
from headatlas.suites.cognitive import KNOWLEDGE
from headatlas.suites.registry import BUILT_IN, DECLARATIONS
from headatlas.suites.suite import Knowledge, Suite
from tests import tiny

# The fingerprint and the number of examples of every built-in suite. They change only when a suite is meant to change:
# maps made with one version of a suite cannot be compared with maps made with another.
GOLDEN = {
    ("cognitive", 1): ("31657fd916df6089", 2400),
    ("cognitive", 2): ("a8a776dda154cd1d", 2400),
    ("cognitive", 3): ("e92878210f52f205", 2400),
    ("roles", 1): ("28506ea9e9b79c91", 1200),
    ("roles", 2): ("9d0782964f686602", 1200),
    ("roles", 3): ("e52d27454dbf9b6a", 1200),
    ("chains", None): ("a9566b85eba96d92", 799),
    ("neutral", 1): ("02e38f2a2975aef7", 300),
    ("neutral", 2): ("3719d3c2f348a009", 300),
    ("neutral", 3): ("aaa0359dd1d9698f", 300),
}


@pytest.mark.parametrize(("name", "level"), GOLDEN)
def test_built_in_suites_hold_the_recorded_examples(name: str, level: int | None) -> None:
    suite = load_suite(name, level)
    assert suite.name == name
    assert (suite.fingerprint, len(suite.examples)) == GOLDEN[name, level]
    assert suite.knowledge == (Knowledge() if name == "neutral" else KNOWLEDGE)


def test_all_built_in_suites_have_a_golden_fingerprint_and_a_description() -> None:
    levels = {name: (1, 2, 3) if declaration.levels else (None,) for name, declaration in BUILT_IN.items()}
    assert {(name, level) for name in BUILT_IN for level in levels[name]} == set(GOLDEN)
    assert {name: SUITES[name] for name in BUILT_IN} == {name: d.description for name, d in BUILT_IN.items()}


def test_a_suite_has_level_1_unless_another_is_asked_for() -> None:
    assert load_suite("neutral").fingerprint == GOLDEN["neutral", 1][0]
    with pytest.raises(UsageError, match="Level 0 was asked for, but `level` must be one of 1, 2, 3"):
        load_suite("neutral", level=0)


def test_unknown_suites_offer_what_there_is(tmp_path) -> None:
    with pytest.raises(UsageError, match=r"Unknown suite 'cognitve'. Did you mean 'cognitive'\?"):
        load_suite("cognitve")
    with pytest.raises(UsageError, match="There is no task file .*none.jsonl'. Known suites: cognitive, roles, chains"):
        load_suite(tmp_path / "none.jsonl")


def test_a_level_is_refused_where_there_are_none(tmp_path) -> None:
    for name in ("chains", str(tmp_path / "tasks.jsonl")):
        with pytest.raises(UsageError, match=f"Level 2 was asked for, but '{name}' has no levels. Leave `level` out."):
            load_suite(name, level=2)


def test_listing_suites_builds_none_of_them() -> None:
    code = "import sys; from headatlas.suites import SUITES; print('headatlas.suites.cognitive' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"


@pytest.fixture
def _registered():
    """What a test registers is forgotten after it."""
    before = dict(DECLARATIONS), dict(SUITES)
    yield
    for registry, content in zip((DECLARATIONS, SUITES), before, strict=True):
        registry.clear()
        registry.update(content)


@pytest.mark.usefixtures("_registered")
class TestRegistering:
    def test_a_registered_suite_is_loaded_and_listed_like_a_built_in_one(self) -> None:
        known = Knowledge(showcase=("Numbers",))
        register_suite("mine", "two tiny tasks", lambda: replace(tiny.suite(), knowledge=known))
        assert list(SUITES.items())[-1] == ("mine", "two tiny tasks")
        assert load_suite("mine") == replace(tiny.suite(), knowledge=known)
        with pytest.raises(UsageError, match="'mine' has no levels"):
            load_suite("mine", level=1)
        with pytest.raises(UsageError, match=r"Unknown suite 'mime'. Did you mean 'mine'\?"):
            load_suite("mime")

    def test_a_builder_may_be_named_and_take_levels(self) -> None:
        register_suite("again", "the neutral suite once more", "headatlas.suites.neutral:neutral", levels=True)
        assert load_suite("again", level=2).fingerprint == GOLDEN["neutral", 2][0]

    def test_a_name_can_be_registered_again_unless_it_is_built_in(self) -> None:
        register_suite("mine", "first", tiny.suite)
        register_suite("mine", "second", lambda: Suite("second", tiny.suite().examples))
        assert (SUITES["mine"], load_suite("mine").name) == ("second", "second")
        with pytest.raises(UsageError, match="'chains' belongs to a built-in suite .*Choose another `name`"):
            register_suite("chains", "mine", tiny.suite)

    def test_a_builder_that_cannot_work_is_refused_with_its_name(self) -> None:
        with pytest.raises(UsageError, match="The `builder` of suite 'mine' is 'tests.tiny'; write it as 'module:func"):
            register_suite("mine", "no function", "tests.tiny")
        for builder in ("tests.tinny:suite", "tests.tiny:suit"):
            register_suite("mine", "not there", builder)
            with pytest.raises(HeadAtlasError, match=f"'mine' cannot be built: its `builder` '{builder}' cannot "):
                load_suite("mine")
        register_suite("mine", "no suite", lambda: list(tiny.suite().examples))
        with pytest.raises(HeadAtlasError, match="`builder` of suite 'mine' returned list instead of a Suite"):
            load_suite("mine")
