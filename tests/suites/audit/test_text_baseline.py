import random

import numpy as np
import pytest

from headatlas.errors import HeadAtlasError
from headatlas.suites.audit.text_baseline import asked_text, text_baseline, text_features
from headatlas.suites.chains.chain import Chain, Step, chain_examples
from tests.suites.audit.fair import clean, suite_of


def test_the_text_of_a_step_is_its_question():
    steps = (Step("Which colour?", "red", "Retrieval"), Step("Step 2: how many?", "two", "Inference"))
    first, second = chain_examples(Chain("c", "A red ball\nor two?", "two", steps, "g"))
    assert asked_text(first) == "Which colour?"
    assert asked_text(second) == "Step 2: how many?"
    assert text_features(first) == [
        "word:which", "word:colour", "word:?", "pair:which colour", "pair:colour ?", "answer:red",
        "prompt length:4", "answer length:2", "step:0",
    ]  # fmt: skip


@pytest.mark.parametrize("classifier", ["naive Bayes", "tf-idf"])
def test_unseen_groups_are_predicted_in_the_order_of_the_suite(classifier):
    fields = []
    for i, e in enumerate(clean(90)):
        opening = "all in red" if e["task"] == "A" or i % 3 else "blue sky now"
        fields.append(e | {"prompt": f"{opening}: {e['prompt']}"})
    suite = suite_of(fields)
    baseline = text_baseline(suite, classifier)
    hits = [guess == example.task for guess, example in zip(baseline.predictions, suite.examples, strict=True)]
    assert baseline.accuracy == pytest.approx(np.mean(hits))
    assert baseline.interval[0] < baseline.accuracy < baseline.interval[1]
    assert np.mean(list(baseline.recall.values())) == pytest.approx(baseline.accuracy)
    blue = [hit for hit, example in zip(hits, fields, strict=True) if example["prompt"].startswith("blue")]
    assert np.mean(blue) == 1.0
    assert baseline == text_baseline(suite, classifier)


@pytest.mark.parametrize("classifier", ["naive Bayes", "tf-idf"])
def test_what_only_a_group_shares_is_not_learned(classifier):
    # A word known only within a group would give its task away to folds that cut through groups.
    fields = []
    for i, example in enumerate(clean(90)):
        group = f"{example['task']}{i // 6}"
        secret = " ".join("".join(random.Random(f"{group}{k}").choices("bcdfghjk", k=9)) for k in range(3))
        fields.append(example | {"prompt": f"{secret} {example['prompt']}", "group": group})
    cut_through = suite_of([example | {"group": example["id"]} for example in fields])
    assert text_baseline(cut_through, classifier).accuracy > 0.9
    assert text_baseline(suite_of(fields), classifier).accuracy < 0.6


def test_tiny_suites_and_wrong_names():
    two = suite_of([example | {"group": example["task"]} for example in clean(3)])
    assert text_baseline(two, "tf-idf").accuracy == 0.0  # each fold has only seen the other task
    with pytest.raises(HeadAtlasError, match="Unknown classifier 'naive'. Did you mean 'naive Bayes'"):
        text_baseline(two, "naive")
    with pytest.raises(HeadAtlasError, match=r"has 1 task\(s\) and 2 group\(s\).*at least 2 of each"):
        text_baseline(suite_of(clean(3, tasks=("A",))))
