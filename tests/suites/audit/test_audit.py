import random
from functools import cache

import numpy as np
import pytest

from headatlas.errors import HeadAtlasError
from headatlas.suites.audit.audit import audit, cohens_d, cramers_v
from headatlas.suites.audit.shortcuts import mentions, shortcuts
from headatlas.suites.audit.text_baseline import own_text, text_baseline, text_features
from headatlas.suites.chains.chain import Chain, Step, chain_examples
from headatlas.suites.example import Example
from headatlas.suites.suite import Suite

TEXT = """able acid baby back calm card dark deal east edge face fact gain game hair half idea iron join jump keen kind
lady lake main mark name neck open oven page pain quit race rain safe sand take tale unit user vast view wage wait
yard year zero zone animal bottle candle dinner engine family garden hammer island jacket"""
WORDS = TEXT.split()


def clean(size=150, tasks=("A", "B")):
    """Two tasks that differ in nothing: five words, four options in any order, the answer any of them."""
    rng = random.Random(0)
    fields = []
    for task in tasks:
        for i in range(size):
            options = rng.sample(WORDS, 4)
            text = " ".join(rng.choices(WORDS, k=5))
            mentioned = rng.sample(options, 4)
            prompt = f"{text} of {', '.join(mentioned)} choose the"
            group = f"{task}{i // 2}"
            fields.append({"id": f"{task}{i}", "task": task, "prompt": prompt, "answer": f" {options[0]}",
                           "distractors": tuple(f" {o}" for o in options[1:]), "group": group})  # fmt: skip
    return fields


def suite_of(fields):
    return Suite("made", tuple(Example(**own) for own in fields))


def planted(change, task="B"):
    """The clean suite with every example of one task changed: `change(fields, index)` returns the new fields."""
    return suite_of([own | change(own, i) if own["task"] == task else own for i, own in enumerate(clean())])


def find(checks, name, task="all"):
    (check,) = [check for check in checks if (check.name, check.task) == (name, task)]
    return check


def test_a_clean_suite_passes_every_check():
    checks = audit(suite_of(clean()))
    assert [check.note for check in checks if check.verdict != "good"] == []
    assert {check.task for check in checks} == {"all", "A", "B"}
    assert find(checks, "class balance").value == 1.0
    assert find(checks, "prompts shared between splits").value == 0.0
    assert find(checks, "task from text, naive Bayes").value == pytest.approx(0.5, abs=0.1)
    assert find(checks, "the answer mentioned first", "A").value == pytest.approx(0, abs=0.1)
    assert "chance 25.0 %" in find(checks, "choose the longest option", "B").note
    assert audit(suite_of(clean())) == checks


@cache
def audit_of(change):
    return audit(planted(change))


def zebra(own, i):
    return {"prompt": "All about zebras and zoos: " + own["prompt"]}


def longer(own, i):
    return {"prompt": "word " * 20 + own["prompt"]}


def wordy(own, i):
    return {"answer": own["answer"] + " indeed so", "distractors": tuple(o + " indeed so" for o in own["distractors"])}


def long_distractors(own, i):
    return {"distractors": tuple(f"{o} and so on" for o in own["distractors"])}


def short_distractors(own, i):
    return {"distractors": (" a", " b", " c")}


def unused_distractors(own, i):
    return {"distractors": tuple(f" {o.strip()[::-1]}" for o in own["distractors"])}


def answer_last(own, i):
    mentioned = ", ".join(o.strip() for o in (*own["distractors"], own["answer"]))
    return {"prompt": f"of {mentioned} choose the"}


@pytest.mark.parametrize(
    ("change", "name", "task", "value", "words"),
    [
        (zebra, "task from text, naive Bayes", "all", 0.99,
         "% of the examples (95 % interval 9"),
        (zebra, "task from text, tf-idf", "all", 1.0,
         "majority 50.0 %, chance 50.0 %): the accuracy that a probe must beat"),
        (longer, "prompt length in words", "all", float("inf"), "between A (mean 12.0) and B (mean 32.0)"),
        (longer, "prompt length in characters", "all", None, "differs most between A (mean"),
        (wordy, "answer length in words", "all", float("inf"), "A (mean 1.0) and B (mean 3.0)"),
        (wordy, "answer length in characters", "all", None, "good is below 0.5"),
        (lambda own, i: {"prompt": "Question: " + own["prompt"]}, 'prompts with "Question:"', "all", 1.0,
         "(A 0 %, B 100 %)"),
        (lambda own, i: {"prompt": own["prompt"] + " ="}, "prompts that end with a sign", "all", 1.0, "V of 1.00"),
        # Table [[0, 150], [75, 75]]: (150 * 75) / sqrt(150 * 150 * 75 * 225)
        (lambda own, i: {"prompt": own["prompt"] + " 7" * (i % 2)}, "prompts with digits", "all", 0.57735,
         "(A 0 %, B 50 %)"),
        (lambda own, i: {"answer": " zulu"} if i % 3 == 0 else {}, "most frequent answer", "B", 1 / 3,
         "'zulu', makes up 33.3 % of 150 answers"),
        (lambda own, i: {"answer": " the" + own["answer"]}, "most frequent first answer word", "B", 1.0, "'the'"),
        (long_distractors, "choose the shortest option", "B", 0.75, "100.0 % of 150 examples of B, by chance 25.0 %"),
        (short_distractors, "choose the longest option", "B", 0.75, "(+75.0 points, 95 % interval +7"),
        (unused_distractors, "choose the option most frequent as an answer", "B", None, "above chance"),
        (answer_last, "choose the option mentioned last", "B", 0.75, "at most 10 points above chance"),
        (answer_last, "the answer mentioned last", "B", 0.75, "100.0 % of 150 prompts of B"),
        (answer_last, "the answer mentioned first", "B", -0.25, "good is within 10 points"),
    ],
)  # fmt: skip
def test_a_planted_confound_is_found(change, name, task, value, words):
    check = find(audit_of(change), name, task)
    assert check.verdict == "bad"
    assert words in check.note
    if value is None:
        assert check.value > 2 * check.limit
    else:
        assert check.value == pytest.approx(value, abs=0.01)


def test_the_other_task_is_not_blamed():
    checks = audit_of(long_distractors)
    assert find(checks, "choose the shortest option", "A").verdict == "good"
    assert find(checks, "most frequent answer", "A").verdict == "good"


def test_prompts_that_cross_splits_are_counted():
    fields = clean()
    for i in range(0, 40, 4):  # groups are pairs: 0 and 2 are in different ones
        fields[i + 2]["prompt"] = fields[i]["prompt"].upper()
    check = find(audit(suite_of(fields)), "prompts shared between splits")
    assert check.verdict == "bad"
    assert 1 <= check.value <= 10
    assert f"{check.value:.0f} of 290 different prompts stand in more than one of fit, choose, evaluate" in check.note


def test_a_suite_that_cannot_be_split_is_bad_and_the_rest_is_still_checked():
    checks = audit(suite_of([own | {"group": own["task"]} for own in clean()]))
    check = find(checks, "prompts shared between splits")
    assert (check.verdict, np.isnan(check.value)) == ("bad", True)
    assert "has 1 group(s) and cannot be split" in check.note
    assert find(checks, "class balance").verdict == "good"


@pytest.mark.parametrize(("kept", "verdict"), [(80, "good"), (40, "warning"), (20, "bad")])
def test_the_balance_of_tasks(kept, verdict):
    fields = clean()[: 150 + kept]
    check = find(audit(suite_of(fields)), "class balance")
    assert (check.value, check.verdict) == (pytest.approx(kept / 150), verdict)
    assert f"The smallest task, B, has {kept} examples and the largest, A, 150" in check.note


def test_leakage_informs_and_warns_only_where_the_function_says_what_is_right():
    tasks = ("Retrieval", "Knowledge Recall", "Other")
    fields = clean(60, tasks)
    checks = audit(suite_of(fields))
    assert find(checks, "answer in prompt", "Retrieval").verdict == "good"
    assert find(checks, "answer in prompt", "Other").limit is None
    recall = find(checks, "answer in prompt", "Knowledge Recall")
    assert (recall.value, recall.limit, recall.verdict) == (1.0, 0.1, "warning")
    assert "should be below 10 %" in recall.note
    hidden = audit(suite_of([own | {"prompt": f"{own['id']} is the"} for own in fields]))
    assert find(hidden, "answer in prompt", "Knowledge Recall").verdict == "good"
    assert find(hidden, "answer in prompt", "Retrieval").verdict == "warning"
    assert "below 10 % Retrieval, Knowledge Recall, Other" in find(hidden, "answer in prompt").note
    assert not [check for check in hidden if check.name.startswith("the answer mentioned")]


def test_one_task_without_options_can_be_audited():
    checks = audit(suite_of([own | {"distractors": ()} for own in clean(tasks=("A",))]))
    text = find(checks, "task from text, tf-idf")
    assert text.verdict == "warning"
    assert "has 1 task(s) and 75 group(s)" in text.note
    assert not [check for check in checks if check.name.startswith("choose")]


def test_an_answer_does_not_count_for_its_own_frequency():
    # Every answer stands once, no option is another's answer: nothing to choose by.
    fields = [own | {"answer": f" w{i}", "distractors": (f" x{i}", f" y{i}")} for i, own in enumerate(clean(30))]
    found = shortcuts(suite_of(fields))["the option most frequent as an answer"]["A"]
    assert (found.share, found.value) == (pytest.approx(1 / 3), pytest.approx(0))


def test_few_examples_are_a_warning_and_not_proof():
    fields = [own | long_distractors(own, i) for i, own in enumerate(clean(2))]
    check = find(audit(suite_of(fields)), "choose the shortest option", "A")
    assert (check.value, check.verdict) == (pytest.approx(0.75), "warning")


def test_effect_sizes_by_hand():
    assert cohens_d([1, 2, 3], [2, 3, 4]) == pytest.approx(1.0)
    assert cohens_d([1, 1], [1, 1]) == 0.0
    assert cramers_v({"a": [True] * 9, "b": [True] * 5}) == 0.0
    assert cramers_v({"a": [True, False], "b": [True, False]}) == 0.0


def test_mentions_are_whole_words():
    assert mentions("The hikes, a Hike and hike", " hike.") == [13, 22]
    assert mentions("costs $5.50, not $5.5", "$5.5") == [17]
    assert mentions("anything", " . ") == []


def test_the_text_of_a_step_is_its_own_question():
    steps = (Step("Which colour?", "red", "Retrieval"), Step("Step 2: how many?", "two", "Inference"))
    first, second = chain_examples(Chain("c", "A red ball\nor two?", "two", steps, "g"))
    assert own_text(first) == "Which colour?"
    assert own_text(second) == "Step 2: how many?"
    assert text_features(first) == [
        "word:which", "word:colour", "word:?", "pair:which colour", "pair:colour ?", "answer:red",
        "prompt length:4", "answer length:2", "step:0",
    ]  # fmt: skip


@pytest.mark.parametrize("classifier", ["naive Bayes", "tf-idf"])
def test_unseen_groups_are_predicted_in_the_order_of_the_suite(classifier):
    fields = [own | {"prompt": f"{'all in red' if own['task'] == 'A' or i % 3 else 'blue sky now'}: {own['prompt']}"}
              for i, own in enumerate(clean(90))]  # fmt: skip
    suite = suite_of(fields)
    found = text_baseline(suite, classifier)
    hits = [guess == example.task for guess, example in zip(found.predictions, suite.examples, strict=True)]
    assert found.accuracy == pytest.approx(np.mean(hits))
    assert found.interval[0] < found.accuracy < found.interval[1]
    assert np.mean(list(found.recall.values())) == pytest.approx(found.accuracy)
    blue = [hit for hit, own in zip(hits, fields, strict=True) if own["prompt"].startswith("blue")]
    assert np.mean(blue) == 1.0
    assert found == text_baseline(suite, classifier)


@pytest.mark.parametrize("classifier", ["naive Bayes", "tf-idf"])
def test_what_only_a_group_shares_is_not_learned(classifier):
    # A word known only within a group would give its task away to folds that cut through groups.
    fields = []
    for i, own in enumerate(clean(90)):
        group = f"{own['task']}{i // 6}"
        secret = " ".join("".join(random.Random(f"{group}{k}").choices("bcdfghjk", k=9)) for k in range(3))
        fields.append(own | {"prompt": f"{secret} {own['prompt']}", "group": group})
    cut_through = suite_of([own | {"group": own["id"]} for own in fields])
    assert text_baseline(cut_through, classifier).accuracy > 0.9
    assert text_baseline(suite_of(fields), classifier).accuracy < 0.6


def test_tiny_suites_and_wrong_names():
    two = suite_of([own | {"group": own["task"]} for own in clean(3)])
    assert text_baseline(two, "tf-idf").accuracy == 0.0  # each fold has only seen the other task
    with pytest.raises(HeadAtlasError, match="Unknown classifier 'naive'. Did you mean 'naive Bayes'"):
        text_baseline(two, "naive")
    with pytest.raises(HeadAtlasError, match=r"has 1 task\(s\) and 2 group\(s\).*at least 2 of each"):
        text_baseline(suite_of(clean(3, tasks=("A",))))
