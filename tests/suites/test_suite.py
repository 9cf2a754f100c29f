import itertools

import pytest

from headatlas.errors import HeadAtlasError
from headatlas.suites import load_suite
from headatlas.suites.example import Example
from headatlas.suites.jsonl import read_jsonl
from headatlas.suites.suite import SHARES, SPLITS, Suite, to_jsonl
from tests import tiny


def suite_of(groups, tasks=("a",)):
    counter = itertools.count()
    return Suite(
        "made",
        tuple(
            Example(id=str(next(counter)), task=task, prompt="p", answer=" a", group=group)
            for task in tasks
            for group in groups
        ),
    )


def test_splits_never_share_a_group_and_keep_their_shares():
    groups = [f"g{i}" for i in range(60) for _ in range(1 + i % 5)]
    suite = suite_of(groups, tasks=("a", "b"))
    splits = suite.split()
    homes = [{example.group for example in splits[split].examples} for split in SPLITS]
    assert not homes[0] & homes[1] | homes[0] & homes[2] | homes[1] & homes[2]
    assert sum(len(splits[split].examples) for split in SPLITS) == len(suite.examples)
    for split in SPLITS:
        for task in ("a", "b"):
            assert len(splits[split].of(task)) / len(suite.of(task)) == pytest.approx(SHARES[split], abs=0.05)


def test_the_split_is_the_same_whatever_the_order_of_the_file_and_another_with_another_seed():
    suite = suite_of([f"g{i}" for i in range(30)])
    turned = Suite("made", tuple(reversed(suite.examples)))
    ids = [{e.id for e in s.split()["fit"].examples} for s in (suite, turned)]
    assert ids[0] == ids[1]
    assert ids[0] != {e.id for e in suite.split(seed=1)["fit"].examples}


def test_too_few_groups_cannot_be_split():
    with pytest.raises(
        HeadAtlasError, match=r"Task 'a' .* has 1 group\(s\) and cannot be split into fit, choose, evaluate"
    ):
        suite_of(["only"] * 30).split()


def test_a_limit_takes_as_many_groups_as_it_can():
    suite = suite_of([f"g{i}" for i in range(10) for _ in range(8)], tasks=("a", "b"))
    limited = suite.limit(12)
    for task in ("a", "b"):
        assert len(limited.of(task)) == 12
        assert len({example.group for example in limited.of(task)}) == 10
    assert limited.limit(12).examples == limited.examples


def test_tasks_are_chosen_by_name_without_regard_to_case():
    assert tiny.suite().only(["colours"]).tasks == ("Colours",)
    with pytest.raises(HeadAtlasError, match=r"Unknown task 'Color'. Did you mean 'Colours'\? Known: Colours, Numbers"):
        tiny.suite().only(["Color"])
    with pytest.raises(HeadAtlasError, match=r"Unknown task 'math'. Did you mean 'Math Calculation'\?"):
        tiny.suite(tasks=("Math Calculation", "Syntactic Understanding")).only(["math"])


def test_a_suite_survives_its_file(tmp_path):
    path = tmp_path / "tiny.jsonl"
    path.write_text(to_jsonl(tiny.suite().examples))
    assert read_jsonl(path) == tiny.suite()
    assert load_suite(path).fingerprint == tiny.suite().fingerprint


GOOD = '{"id": "1", "task": "t", "prompt": "p", "answer": " a", "group": "g"}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "contains no examples"),
        ("\n\n", "contains no examples"),
        (GOOD + "\n{nonsense", r"bad.jsonl, line 2, field 'example': Invalid JSON"),
        ("[1, 2]", "line 1, field 'example': "),
        (GOOD.replace('"answer": " a", ', ""), "line 1, field 'answer': Field required"),
        (GOOD.replace('" a"', "7"), "line 1, field 'answer': Input should be a valid string"),
        (GOOD.replace('" a"', '"  "'), "line 1, field 'answer': is blank"),
        (GOOD.replace('" a"', '""'), "line 1, field 'answer': String should have at least 1 character"),
        (GOOD.replace('"p"', '"p", "distractors": [" b", "a"]'), "distractors contain the answer ' a'"),
        (GOOD.replace('"p"', '"p", "distractors": [" b", " b"]'), "field 'distractors': contains the same option twice"),
        (GOOD.replace('"p"', '"p", "counterfactual": {"prompt": "q"}'), "'counterfactual.answer': Field required"),
        (GOOD.replace('"p"', '"p", "counterfactual": {"prompt": "q", "answer": " a"}'), "has the same answer"),
        (GOOD.replace('"p"', '"p", "promt": "q"'), "field 'promt': Extra inputs are not permitted"),
        (GOOD + "\n\n" + GOOD, r"line 3, field 'id': '1' was already used on line 1"),
    ],
)  # fmt: skip
def test_a_bad_line_is_refused_with_file_line_field_and_reason(tmp_path, text, message):
    path = tmp_path / "bad.jsonl"
    path.write_text(text)
    with pytest.raises(HeadAtlasError, match=message) as error:
        read_jsonl(path)
    assert str(path) in str(error.value)


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b'{"id": "\xff\xfe"}')
    with pytest.raises(HeadAtlasError, match="is not UTF-8 text"):
        read_jsonl(path)


def test_unknown_suites_offer_what_there_is(tmp_path):
    with pytest.raises(HeadAtlasError, match=r"Unknown suite 'cognitve'. Did you mean 'cognitive'\?"):
        load_suite("cognitve")
    with pytest.raises(HeadAtlasError, match="'chains' has no levels"):
        load_suite("chains", level=2)
    with pytest.raises(HeadAtlasError, match="There is no task file"):
        load_suite(tmp_path / "none.jsonl")
