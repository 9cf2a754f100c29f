import json
from functools import cache

import numpy as np
import pytest

from headatlas.suites.audit.audit import audit
from headatlas.suites.suite import Knowledge
from tests.suites.audit.fair import clean, long_distractors, planted, suite_of


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
    assert "chance is 25.0 %" in find(checks, "choose the longest option", "B").note
    assert audit(suite_of(clean())) == checks


@cache
def audit_of(change):
    return audit(planted(change))


def zebra(e, i):
    return {"prompt": "All about zebras and zoos: " + e["prompt"]}


def longer(e, i):
    return {"prompt": "word " * 20 + e["prompt"]}


def wordy(e, i):
    return {"answer": e["answer"] + " indeed so", "distractors": tuple(o + " indeed so" for o in e["distractors"])}


def short_distractors(e, i):
    return {"distractors": (" a", " b", " c")}


def unused_distractors(e, i):
    return {"distractors": tuple(f" {o.strip()[::-1]}" for o in e["distractors"])}


def answer_last(e, i):
    mentioned = ", ".join(o.strip() for o in (*e["distractors"], e["answer"]))
    return {"prompt": f"of {mentioned} choose the"}


@pytest.mark.parametrize(
    ("change", "name", "task", "value", "words"),
    [
        (zebra, "task from text, naive Bayes", "all", 0.99,
         "A naive Bayes classifier that sees only the text names the right task for 9"),
        (zebra, "task from text, tf-idf", "all", 1.0,
         "always naming the largest task: 50.0 %; chance: 50.0 %). A probe must beat this accuracy."),
        (longer, "prompt length in words", "all", float("inf"), "between A (mean 12.0) and B (mean 32.0)"),
        (longer, "prompt length in characters", "all", None, "differs most between A (mean"),
        (wordy, "answer length in words", "all", float("inf"), "A (mean 1.0) and B (mean 3.0)"),
        (wordy, "answer length in characters", "all", None, "good is below 0.5"),
        (lambda e, i: {"prompt": "Question: " + e["prompt"]}, 'prompts with "Question:"', "all", 1.0,
         "(A 0 %, B 100 %)"),
        (lambda e, i: {"prompt": e["prompt"] + " ="}, "prompts that end with a symbol", "all", 1.0, "V of 1.00"),
        # Table [[0, 150], [75, 75]]: (150 * 75) / sqrt(150 * 150 * 75 * 225)
        (lambda e, i: {"prompt": e["prompt"] + " 7" * (i % 2)}, "prompts with digits", "all", 0.57735,
         "(A 0 %, B 50 %)"),
        (lambda e, i: {"answer": " zulu"} if i % 3 == 0 else {}, "most frequent answer", "B", 1 / 3,
         "'zulu', makes up 33.3 % of 150 answers"),
        (lambda e, i: {"answer": " the" + e["answer"]}, "most frequent first answer word", "B", 1.0, "'the'"),
        (long_distractors, "choose the shortest option", "B", 0.75, "100.0 % of 150 examples of B; chance is 25.0 %"),
        (short_distractors, "choose the longest option", "B", 0.75, "(+75.0 points, 95 % interval +7"),
        (unused_distractors, "choose the option most frequent as an answer", "B", None, "above chance"),
        (answer_last, "choose the option mentioned last", "B", 0.75, "at most 10 points above chance"),
        (answer_last, "the answer mentioned last", "B", 0.75,
         "In 100.0 % of 150 prompts of B the answer is the option mentioned last"),
        (answer_last, "the answer mentioned first", "B", -0.25, "Good is within 10 points of chance."),
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
    assert f"{check.value:.0f} of 290 different prompts are in more than one of fit, choose, evaluate" in check.note


def test_a_suite_that_cannot_be_split_is_bad_and_the_rest_is_still_checked():
    checks = audit(suite_of([e | {"group": e["task"]} for e in clean()]))
    check = find(checks, "prompts shared between splits")
    assert (check.verdict, np.isnan(check.value)) == ("bad", True)
    assert "has 1 group(s) and cannot be split" in check.note
    assert find(checks, "class balance").verdict == "good"


@pytest.mark.parametrize(("kept", "verdict"), [(80, "good"), (40, "warning"), (20, "bad")])
def test_the_balance_of_tasks(kept, verdict):
    fields = clean()[: 150 + kept]
    check = find(audit(suite_of(fields)), "class balance")
    assert (check.value, check.verdict) == (pytest.approx(kept / 150), verdict)
    assert f"The smallest task, B, has {kept} examples and the largest, A, has 150" in check.note


def test_an_answer_in_the_prompt_is_judged_only_where_the_suite_says_how_it_is_meant():
    knowledge = Knowledge(answer_in_prompt=("Finding",), answer_not_in_prompt=("Knowing",))
    fields = clean(60, ("Finding", "Knowing", "Other"))
    shown = audit(suite_of(fields, knowledge))
    assert find(shown, "answer in prompt", "Finding").verdict == "good"
    assert find(shown, "answer in prompt", "Other").limit is None
    knowing = find(shown, "answer in prompt", "Knowing")
    assert (knowing.value, knowing.limit, knowing.verdict) == (1.0, 0.1, "warning")
    assert "100 % of the 60 prompts of Knowing contain their answer; the answers" in knowing.note
    assert knowing.note.endswith("must not be read off the prompt, so good is below 10 %.")
    hidden = audit(suite_of([e | {"prompt": f"{e['id']} is the"} for e in fields], knowledge))
    assert find(hidden, "answer in prompt", "Knowing").verdict == "good"
    assert find(hidden, "answer in prompt", "Finding").verdict == "warning"
    assert "Tasks above 50 %: no task. Tasks below 10 %: Finding, Knowing, Other." in (
        find(hidden, "answer in prompt").note
    )
    assert not [check for check in hidden if check.name.startswith("the answer mentioned")]
    nothing_known = [check for check in audit(suite_of(fields)) if check.name == "answer in prompt"]
    assert {(check.limit, check.verdict) for check in nothing_known} == {(None, "good")}


def test_lengths_in_tokens_are_compared_like_the_others():
    checks = audit(suite_of(clean(20)), tokens={"prompt length in tokens": lambda e: 3 if e.task == "A" else 5})
    check = find(checks, "prompt length in tokens")
    assert (check.value, check.verdict) == (float("inf"), "bad")
    assert "between A (mean 3.0) and B (mean 5.0)" in check.note


def test_rows_are_valid_json():
    checks = audit_of(longer)
    assert find(checks, "prompt length in words").value == float("inf")
    rows = json.loads(json.dumps([check.row() for check in checks], allow_nan=False))
    (row,) = [row for row in rows if row["name"] == "prompt length in words"]
    assert (row["value"], row["verdict"], row["limit"]) == (None, "bad", 0.5)


def test_one_task_without_options_can_be_audited():
    checks = audit(suite_of([e | {"distractors": ()} for e in clean(tasks=("A",))]))
    text = find(checks, "task from text, tf-idf")
    assert text.verdict == "warning"
    assert "has 1 task(s) and 75 group(s)" in text.note
    assert not [check for check in checks if check.name.startswith("choose")]


def test_few_examples_are_a_warning_and_not_proof():
    fields = [e | long_distractors(e, i) for i, e in enumerate(clean(2))]
    check = find(audit(suite_of(fields)), "choose the shortest option", "A")
    assert (check.value, check.verdict) == (pytest.approx(0.75), "warning")
