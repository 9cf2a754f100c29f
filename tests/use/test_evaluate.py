"""Evaluations with heads masked. The harness itself runs on local task files, where it is installed."""

import json

import numpy as np
import pytest

from headatlas.errors import HeadAtlasError
from headatlas.intervals import change_interval, set_interval
from headatlas.use.evaluate import _compare, _items
from tests import tiny

TASK = """task: copy_{name}
dataset_path: json
dataset_kwargs:
  data_files:
    test: {file}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{question}}}}"
doc_to_choice: choices
doc_to_target: gold
metric_list:
  - metric: acc
"""


@pytest.fixture(scope="module")
def task_files(tmp_path_factory):
    """What the planted model can do, as tasks of the harness."""
    folder = tmp_path_factory.mktemp("harness")
    for task in ("Colours", "Numbers"):
        file = folder / f"{task}.jsonl"
        items = [(e.prompt, e.answer.strip(), e.distractors[0].strip()) for e in tiny.copying(24).of(task)]
        rows = [{"question": prompt, "choices": [answer, wrong], "gold": 0} for prompt, answer, wrong in items]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / f"{task}.yaml").write_text(TASK.format(name=task.lower(), file=file))
    return folder


@pytest.fixture
def harness(monkeypatch, tmp_path_factory):
    """lm-evaluation-harness, without a network."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path_factory.mktemp("datasets")))
    return pytest.importorskip("lm_eval")


def test_masking_the_heads_of_a_task_costs_that_task(harness, mapped, task_files, command):
    arguments = ("--tasks", "copy_colours,copy_numbers", "--include", task_files, "--random", 5)
    done = command("eval", mapped.path, *arguments, "--mask", "top:1:Colours", "--json")
    assert done.returncode == 0, done.stderr
    colours, numbers = json.loads(done.stdout)
    assert (colours["task"], colours["metric"], colours["items"]) == ("copy_colours", "acc", 24)
    assert colours["intact"] == 1.0 and colours["masked"] <= 0.6 and colours["high"] < 0
    assert numbers["intact"] == numbers["masked"] == 1.0
    assert colours["sets"] == 4, "of one head in a layer of four there are four different sets"
    assert colours["random"] == pytest.approx((3 + colours["masked"]) / 4, abs=0.05)


def test_bad_requests_are_one_sentence(harness, mapped, task_files, command):
    usual = ("eval", mapped.path, "--include", task_files)
    for message, arguments in (
        ("has no task 'copy_colors'. Did you mean 'copy_colours'", ("--tasks", "copy_colors", "--mask", "L0H0")),
        ("There is no head L9H0", ("--tasks", "copy_colours", "--mask", "L9H0")),
        ("--random -1 was asked for", ("--tasks", "copy_colours", "--mask", "L0H0", "--random", -1)),
        ("is no folder", ("--tasks", "copy_colours", "--mask", "L0H0", "--include", task_files / "none")),
        ("Say which tasks to evaluate", ("--tasks", ",", "--mask", "L0H0")),
    ):
        done = command(*usual, *arguments)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert message in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_without_the_harness_it_says_what_to_install(mapped, monkeypatch, command):
    import sys

    monkeypatch.setitem(sys.modules, "lm_eval", None)
    done = command("eval", mapped.path, "--tasks", "arc_easy", "--mask", "L0H0")
    assert (done.returncode, done.stdout) == (1, "")
    assert "not installed: pip install 'headatlas[eval]'" in done.stderr


def test_items_are_numbers_by_task_metric_and_filter():
    def sample(number, **more):
        return {"doc_id": number, "filter": "none", "metrics": list(more), **more}

    filtered = {"doc_id": 0, "filter": "strict", "metrics": ["match"], "match": True}
    results = {"samples": {"a": [sample(1, acc=1.0), sample(0, acc=0, ppl=(1, 2))], "b": [filtered]}}
    assert _items(results) == {("a", "acc"): {1: 1.0, 0: 0.0}, ("b", "match (strict)"): {0: 1.0}}


def test_intervals_are_those_of_paired_items_and_of_sets():
    rng = np.random.default_rng(0)
    values = (rng.random((12, 40)) < 0.7).astype(float)
    groups = [str(i) for i in range(40)]
    row = _compare("t", "acc", values)
    low, high = change_interval(values[0], values[1][:, None], groups)
    assert (row.low, row.high) == (low[0], high[0])
    assert (row.random_low, row.random_high) == set_interval(values[1], values[2:], groups, True)
    assert row.random == values[2:].mean() and row.sets == 10 and row.remark is None
    alone = _compare("t", "acc", values[:2])
    assert (alone.random, alone.random_low, alone.sets, alone.remark) == (None, None, 0, None)
    few = _compare("t", "acc", values[:4])
    assert few.random_low is None and few.remark.startswith("only 2 sets of heads")


def test_no_metric_that_is_a_mean_is_an_error():
    from headatlas.use.evaluate import _summarise

    with pytest.raises(HeadAtlasError, match="None of the metrics of these tasks is a mean over items"):
        _summarise([{}, {}])
