import pytest

from headatlas.suites.audit.shortcuts import first_mentions, last_mentions, mentions, positions, shortcuts
from headatlas.suites.example import Example
from tests.suites.audit.fair import clean, suite_of


def test_an_answer_does_not_count_as_evidence_for_itself():
    # Every answer occurs once, and no option is the answer of another example: there is nothing to choose by.
    fields = [e | {"answer": f" w{i}", "distractors": (f" x{i}", f" y{i}")} for i, e in enumerate(clean(30))]
    excess = shortcuts(suite_of(fields))["the option most frequent as an answer"]["A"]
    assert (excess.share, excess.value) == (pytest.approx(1 / 3), pytest.approx(0))


def test_tasks_without_options_are_left_out():
    fields = [e | ({"distractors": ()} if e["task"] == "A" else {}) for e in clean(30)]
    assert [set(by_task) for by_task in shortcuts(suite_of(fields)).values()] == [{"B"}] * 4


def test_positions_count_only_tasks_that_mostly_mention_all_options():
    # Half of A's prompts and two thirds of B's mention all options, the answer first.
    fields = []
    for i, e in enumerate(clean(30)):
        mentioned = ", ".join(text.strip() for text in (e["answer"], *e["distractors"]))
        hidden = i % 2 if e["task"] == "A" else i % 3 == 0
        fields.append(e | {"prompt": "Nothing is said about the" if hidden else f"Of {mentioned} choose the"})
    by_position = positions(suite_of(fields))
    assert {position: list(by_task) for position, by_task in by_position.items()} == {"first": ["B"], "last": ["B"]}
    first, last = by_position["first"]["B"], by_position["last"]["B"]
    assert (first.examples, first.share, first.chance) == (20, 1.0, 0.25)
    assert (last.share, last.value) == (0.0, -0.25)


def test_mentions_are_whole_words():
    assert mentions("The hikes, a Hike and hike", " hike.") == [13, 22]
    assert mentions("costs $5.50, not $5.5", "$5.5") == [17]
    assert mentions("anything", " . ") == []


def test_the_first_and_the_last_mention_of_every_option():
    prompt = "A red cat, a blue cat and a red dog: the"
    example = Example(id="1", task="t", prompt=prompt, answer=" cat", distractors=(" red", " owl"), group="g")
    assert first_mentions(example) == [6, 2, -1]
    assert last_mentions(example) == [18, 28, -1]
