import sys

import pytest

from headatlas.errors import HeadAtlasError, UsageError
from headatlas.suites.importers.procedural import answer_type, read_reasoning_gym


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "reasoning_gym", None)  # what an import finds when it is not installed
    with pytest.raises(HeadAtlasError, match=r"'chain_sum' was asked for.*pip install 'headatlas\[reasoning-gym\]'"):
        read_reasoning_gym("chain_sum", 10)


def test_no_entries_are_refused():
    with pytest.raises(UsageError, match="0 entries of 'chain_sum' were asked for; `n` must be at least 1"):
        read_reasoning_gym("chain_sum", 0)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [("12", "whole number"), ("-7", "whole number"), ("3.50", "number"), ("1e-05", "number"), ("3/4", "number"),
     ("Yes", "word"), ("0x5b", "word"), ("...", "word"), ("two words", "words"), ("[1, 2]", "words")],
)  # fmt: skip
def test_types_of_answers(answer, kind):
    assert answer_type(answer) == kind


class TestWithThePackage:
    @pytest.fixture(autouse=True)
    def _package(self):
        pytest.importorskip("reasoning_gym")

    def test_entries_become_examples(self):
        examples = read_reasoning_gym("chain_sum", 40, seed=3)
        assert len(examples) == 40
        assert len({example.id for example in examples}) == 40
        for example in examples:
            assert example.task == "chain_sum"
            assert example.prompt.endswith("\nAnswer:")
            assert example.group.startswith("chain_sum/")
            assert len(example.distractors) == 3
            assert {answer_type(text.strip()) for text in (example.answer, *example.distractors)} == {"whole number"}
        assert read_reasoning_gym("chain_sum", 40, seed=3) == examples
        assert read_reasoning_gym("chain_sum", 40, seed=4) != examples

    def test_the_same_question_is_one_group(self):
        examples = read_reasoning_gym("syllogism", 60)
        by_prompt = {example.prompt: example.group for example in examples}
        assert len(by_prompt) == len(set(by_prompt.values()))
        assert {example.distractors for example in examples} == {(" Yes",), (" No",)}

    def test_an_unknown_name_gets_near_matches(self):
        with pytest.raises(HeadAtlasError, match=r"Unknown reasoning-gym data set 'leg_count'. .*'leg_counting'"):
            read_reasoning_gym("leg_count", 5)

    def test_a_data_set_without_reference_answers_is_refused(self):
        with pytest.raises(HeadAtlasError, match="None of the 4 entries .*'graph_color' has a reference answer"):
            read_reasoning_gym("graph_color", 4)

    def test_a_generator_that_fails_is_named(self):
        with pytest.raises(HeadAtlasError, match="could not generate 4 entries of 'composite': AssertionError"):
            read_reasoning_gym("composite", 4)
