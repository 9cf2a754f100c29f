"""Which tasks and items a map is made from, and what is refused or left out with a remark."""

from dataclasses import replace

import pytest

from headatlas.atlas.records import AT_CHANCE, COMPETENT, TOO_FEW_KNOWN
from headatlas.errors import HeadAtlasError
from headatlas.run.competence import competence
from headatlas.run.selection import FEWEST_EXAMPLES, select, split_examples
from headatlas.suites.example import Example
from headatlas.suites.suite import SPLITS, Suite
from tests import tiny
from tests.run.contexts import run_context


def examples(count: int, groups: int) -> Suite:
    return Suite(
        "s",
        tuple(
            Example(id=str(i), task="t", prompt=f"item {i} is", answer=" red", group=str(i % groups))
            for i in range(count)
        ),
    )


def test_splits_are_those_of_the_suite_cut_down_to_their_limits():
    suite = tiny.suite(60)
    whole = split_examples(suite, None, seed=3)
    assert whole == suite.split(3)
    limits = {"fit": 9, "choose": 7, "evaluate": 5}
    cut = split_examples(suite, limits, seed=3)
    for split in SPLITS:
        assert cut[split] == whole[split].limit(limits[split], 3)
        assert {task: len(cut[split].of(task)) for task in suite.tasks} == dict.fromkeys(suite.tasks, limits[split])


@pytest.mark.parametrize(
    ("suite", "limits", "message"),
    [
        (examples(5, 5), None, "Task 't' has 5 examples; a map needs at least 12 of every task"),
        (examples(40, 5), None, "Task 't' has fewer than 2 groups in its 'evaluate' split"),
        (examples(40, 20), {"fit": 9, "choose": 9, "evaluate": 1}, "fewer than 2 groups in its 'evaluate' split"),
    ],
)
def test_what_could_say_nothing_about_errors_is_refused(suite, limits, message):
    with pytest.raises(HeadAtlasError, match=message):
        split_examples(suite, limits, seed=0)


def judged(folder, suite=None, model=None, **verdicts):
    """A context, its competence with verdicts replaced, and the known items."""
    context = run_context(folder, model or tiny.planted(), suite or tiny.copying(36))
    entries, known = competence(context)
    return context, [replace(e, verdict=verdicts.get(e.task, e.verdict)) for e in entries], known


def test_all_that_the_model_can_do_is_mapped(tmp_path):
    context, entries, known = judged(tmp_path)
    mapped, selected = select(context, entries, known, at_chance=False, known_only=True)
    assert [(entry.mapped, entry.verdict) for entry in mapped] == [(36, COMPETENT)] * 2
    assert selected.splits == context.splits
    assert context.runner.reporter.said == []


def test_a_task_at_chance_is_left_out_with_a_remark_unless_it_is_asked_for(tmp_path):
    context, entries, known = judged(tmp_path, Numbers=AT_CHANCE)
    mapped, selected = select(context, entries, known, at_chance=False, known_only=False)
    assert [(entry.task, entry.mapped) for entry in mapped] == [("Colours", 36), ("Numbers", 0)]
    assert selected.tasks == ("Colours",)
    assert all(selected.splits[split].of("Colours") == context.splits[split].of("Colours") for split in SPLITS)
    (remark,) = context.runner.reporter.said
    assert remark == f"Numbers is not mapped: not competent (accuracy 1.00, chance {entries[1].chance:.2f})."
    every, whole = select(context, entries, known, at_chance=True, known_only=False)
    assert [(entry.mapped, entry.verdict) for entry in every] == [(36, COMPETENT), (36, AT_CHANCE)]
    assert whole.tasks == ("Colours", "Numbers")


def test_maps_are_made_from_known_items_and_reported_on_all_held_out_ones(tmp_path):
    """A random model that gets some of 96 items right, of every split. Selected on `evaluate`, it would be right there
    by construction, and any change would look like damage."""
    context, entries, known = judged(tmp_path, tiny.suite(96), tiny.model())
    mapped, selected = select(context, entries, known, at_chance=True, known_only=True)
    for entry in mapped:
        chosen = {split: {example.id for example in selected.examples(entry.task, split)} for split in SPLITS}
        assert chosen["fit"] | chosen["choose"] <= known
        assert chosen["evaluate"] == {example.id for example in context.examples(entry.task, "evaluate")}
        assert not chosen["evaluate"] <= known
        assert entry.mapped == sum(map(len, chosen.values())) < 96
    everything, _ = select(context, entries, known, at_chance=True, known_only=False)
    assert [entry.mapped for entry in everything] == [96, 96]


def test_a_task_with_too_few_known_items_is_left_out_and_called_so(tmp_path):
    context, entries, known = judged(tmp_path)
    few = {item for item in known if item.startswith("Numbers")}
    few |= set(sorted(known - few)[: FEWEST_EXAMPLES - 1])
    mapped, selected = select(context, entries, few, at_chance=True, known_only=True)
    assert [(entry.mapped, entry.verdict) for entry in mapped] == [(0, TOO_FEW_KNOWN), (36, COMPETENT)]
    assert selected.tasks == ("Numbers",)
    assert "Colours is not mapped: too few known items" in context.runner.reporter.said[0]


def test_known_items_of_one_group_in_a_split_are_too_few(tmp_path):
    """Enough items, but all that are known of `choose` share a group: no error could be estimated."""
    context, entries, known = judged(tmp_path)
    group = context.examples("Colours", "choose")[0].group
    one_group = {e.id for e in context.examples("Colours", "choose") if e.group != group}
    mapped, _ = select(context, entries, known - one_group, at_chance=False, known_only=True)
    assert 36 - len(one_group) >= FEWEST_EXAMPLES
    assert [(entry.mapped, entry.verdict) for entry in mapped] == [(0, TOO_FEW_KNOWN), (36, COMPETENT)]


def test_where_nothing_is_left_it_is_said_what_to_do(tmp_path):
    context, entries, known = judged(tmp_path, Colours=AT_CHANCE, Numbers=AT_CHANCE)
    with pytest.raises(HeadAtlasError, match=r"at chance on every task.*Map all the same with `at_chance`"):
        select(context, entries, known, at_chance=False, known_only=False)
