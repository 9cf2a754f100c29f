"""What all eight functions have in common: the shared matrix that every generator must enter."""

import itertools
from collections import Counter

import numpy as np
import pytest

from headatlas.errors import HeadAtlasError
from headatlas.suites.cognitive import GENERATORS, KNOWLEDGE, TASKS, cognitive, roles
from headatlas.suites.suite import SPLITS


@pytest.fixture(scope="module", params=[1, 2, 3])
def suite(request):
    return cognitive(level=request.param)


def test_the_eight_functions_come_in_the_order_of_the_figure(suite):
    assert suite.tasks == TASKS
    assert len(GENERATORS) == 8


def test_roles_has_the_two_showcase_functions_with_more_examples():
    suite = roles(level=2)
    assert (suite.name, suite.tasks) == ("roles", KNOWLEDGE.showcase)
    assert [len(suite.of(task)) for task in suite.tasks] == [600, 600]


def test_there_are_enough_examples_templates_and_groups(suite):
    for task in suite.tasks:
        examples = suite.of(task)
        assert len(examples) == len({(e.prompt, e.answer) for e in examples}) == 300
        assert len({e.template for e in examples}) >= 6, task
        assert len({e.group for e in examples}) >= 40, task
        assert Counter(e.group for e in examples).most_common(1)[0][1] <= 30, task


def test_no_answer_is_frequent(suite):
    for task in suite.tasks:
        answers = Counter(e.answer for e in suite.of(task))
        assert answers.most_common(1)[0][1] < 0.1 * 300, task


def test_options_and_twins_are_well_formed(suite):
    for e in suite.examples:
        assert len(e.distractors) >= 2, e.id
        assert e.prompt == e.prompt.strip(), e.id
        assert "  " not in e.prompt, e.id
        for option in (e.answer, *e.distractors):
            assert option.startswith(" "), e.id
            assert 1 <= len(option.split()) <= 2, e.id
            assert abs(len(option) - len(e.answer)) <= 9, (e.id, option)
        twin = e.counterfactual
        assert twin is not None
        assert twin.prompt != e.prompt, e.id
        assert abs(len(twin.prompt.split()) - len(e.prompt.split())) <= 2, (e.id, e.prompt, twin.prompt)


def test_lengths_in_characters_and_words_say_nothing_about_the_function():
    suite = cognitive()
    for measure in (len, lambda prompt: len(prompt.split())):
        lengths = {task: np.array([measure(e.prompt) for e in suite.of(task)], float) for task in suite.tasks}
        for a, b in itertools.combinations(TASKS, 2):
            spread = np.sqrt((lengths[a].var() + lengths[b].var()) / 2)
            assert abs(lengths[a].mean() - lengths[b].mean()) / spread < 0.5, (a, b)


def values(suite, field):
    return {getattr(example, field) for example in suite.examples}


def test_no_group_and_no_prompt_crosses_a_split(suite):
    splits = suite.split()
    for first in SPLITS:
        for second in SPLITS:
            if first < second:
                for key in ("group", "prompt"):
                    assert not values(splits[first], key) & values(splits[second], key)


def test_the_same_arguments_give_the_same_bytes_and_another_seed_others():
    assert cognitive(40).fingerprint == cognitive(40).fingerprint
    assert cognitive(40).fingerprint != cognitive(40, seed=1).fingerprint


def test_more_can_be_asked_for():
    suite = cognitive(900, seed=3)
    assert all(len({e.prompt for e in suite.of(task)}) == 900 for task in TASKS)


def test_an_unknown_level_is_refused():
    with pytest.raises(HeadAtlasError, match="Level 4 was asked for, but `level` must be one of 1, 2, 3"):
        cognitive(24, level=4)
