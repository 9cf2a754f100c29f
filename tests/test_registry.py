"""Named parts: imported when first used, refused with near names, added and forgotten by users."""

import subprocess
import sys
import types

import pytest

from headatlas.errors import UsageError
from headatlas.evidence import TESTS, register_test
from headatlas.evidence.base import EvidenceTest
from headatlas.evidence.mask import Mask
from headatlas.methods import METHODS, register_method
from headatlas.methods.attribute import Attribute
from headatlas.methods.base import Method
from headatlas.registry import Registry


@pytest.fixture
def lazy(monkeypatch):
    """A registry with one part to be imported and one that is there, and the list of what was looked up."""
    looked_up = []

    class Parts(types.ModuleType):
        def __getattr__(self, name: str) -> list[str]:
            if name.startswith("_"):  # what an import looks for by itself
                raise AttributeError(name)
            looked_up.append(name)
            return [name]

    monkeypatch.setitem(sys.modules, "parts_to_import", Parts("parts_to_import"))
    return Registry("part", {"far": "parts_to_import:far", "near": 7}), looked_up


def test_a_part_is_imported_when_it_is_first_asked_for_and_once(lazy):
    registry, looked_up = lazy
    assert list(registry) == ["far", "near"]
    assert "far" in registry and "other" not in registry
    assert looked_up == []
    assert registry["near"] == 7
    assert looked_up == []
    assert registry["far"] == ["far"]
    assert registry["far"] is registry["far"]
    assert looked_up == ["far"]


def test_items_are_all_parts_in_their_order(lazy):
    registry, looked_up = lazy
    assert list(registry.items()) == [("far", ["far"]), ("near", 7)]
    assert looked_up == ["far"]


def test_an_unknown_name_is_answered_with_near_names_and_the_list(lazy):
    registry, _ = lazy
    with pytest.raises(UsageError, match=r"^Unknown part 'fra'. Did you mean 'far'\? Known: far, near\.$"):
        registry["fra"]


def test_a_registered_part_joins_at_the_end_and_can_be_forgotten(lazy):
    registry, _ = lazy
    registry.register("new", 3)
    assert list(registry) == ["far", "near", "new"]
    assert registry["new"] == 3
    with pytest.raises(UsageError, match="There already is a part called 'new'. Choose another name"):
        registry.register("new", 4)
    assert registry["new"] == 3
    registry.remove("new")
    assert "new" not in registry


@pytest.mark.parametrize(("parts", "base"), [(METHODS, Method), (TESTS, EvidenceTest)], ids=["methods", "tests"])
def test_every_part_declares_itself_under_its_name(parts, base):
    assert len(list(parts)) >= 6
    for name, part in parts.items():
        assert issubclass(part, base)
        assert part.info.name == name
        assert part.info.summary and not part.info.summary.endswith(".")


def test_methods_and_tests_of_users_are_registered_by_the_name_they_declare():
    class Mine(Method):
        info = Attribute.info.model_copy(update={"name": "mine"})

    class MyTest(EvidenceTest):
        info = Mask.info.model_copy(update={"name": "my test"})

    try:
        assert register_method(Mine) is Mine and register_test(MyTest) is MyTest
        assert METHODS["mine"] is Mine and TESTS["my test"] is MyTest
        with pytest.raises(UsageError, match="There already is a method called 'mine'"):
            register_method(Mine)
    finally:
        METHODS.remove("mine")
        TESTS.remove("my test")


WITHOUT_TORCH = """
import sys
from headatlas.evidence import TESTS
from headatlas.methods import METHODS
declared = [part.info.model_dump_json() for registry in (METHODS, TESTS) for _, part in registry.items()]
print(len(declared), sorted({"torch", "transformers"} & set(sys.modules)))
"""


def test_declarations_of_all_methods_and_tests_are_read_without_torch():
    """Help texts and readers of an atlas must not wait for torch."""
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, check=True)
    assert done.stdout.split(maxsplit=1) == [str(len(list(METHODS)) + len(list(TESTS))), "[]\n"]
