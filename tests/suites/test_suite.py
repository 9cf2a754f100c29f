import itertools
from dataclasses import replace

import pytest

from headatlas.errors import HeadAtlasError
from headatlas.suites.example import Example
from headatlas.suites.suite import SHARES, SPLITS, Knowledge, Suite
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
    groups_of_split = [{example.group for example in splits[split].examples} for split in SPLITS]
    assert sum(map(len, groups_of_split)) == len(set.union(*groups_of_split)) == 60
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


KNOWLEDGE = Knowledge(low_level=("a",), high_level=("b",), showcase=("b", "elsewhere"))


def test_nothing_is_known_about_the_tasks_unless_it_is_said():
    assert suite_of(["g"]).knowledge == Knowledge((), (), (), (), ())


def test_every_part_of_a_suite_keeps_what_is_known_about_its_tasks():
    suite = replace(suite_of([f"g{i}" for i in range(9)], tasks=("a", "b")), knowledge=KNOWLEDGE)
    parts = [suite.only(["a"]), suite.keep(lambda example: example.group == "g0"), suite.limit(2)]
    parts += suite.split().values()
    assert [len(part.examples) for part in parts[:3]] == [9, 2, 4]
    assert {part.knowledge for part in parts} == {KNOWLEDGE}
    assert {part.name for part in parts} == {"made"}


def test_the_fingerprint_is_that_of_the_examples_alone():
    suite = suite_of(["g1", "g2"])
    assert replace(suite, knowledge=KNOWLEDGE, name="other").fingerprint == suite.fingerprint
    assert replace(suite, examples=suite.examples[::-1]).fingerprint != suite.fingerprint
    changed = (suite.examples[0].model_copy(update={"group": "g3"}), suite.examples[1])
    assert replace(suite, examples=changed).fingerprint != suite.fingerprint


def test_a_suite_without_examples_or_with_one_id_twice_is_refused():
    with pytest.raises(HeadAtlasError, match="Suite 'empty' has no examples"):
        Suite("empty", ())
    example = suite_of(["g"]).examples[0]
    with pytest.raises(HeadAtlasError, match="Suite 'twice' uses the id '0' more than once"):
        Suite("twice", (example, example))
