"""Heads of one task, damage on another: every entry by hand."""

import numpy as np
import pytest
import torch

from headatlas.evidence.choice import INTACT
from headatlas.evidence.specificity import OTHERS, Specificity
from headatlas.run.baselines import Baselines
from headatlas.stats import bootstrap_mean
from headatlas.suites.example import Example
from headatlas.suites.suite import Suite
from tests import tiny
from tests.evidence.common import first, gate, make_trial, row, rows, without
from tests.run.reference import encoded


def with_neutral(suite: Suite) -> Suite:
    """A third task called Neutral, of several lengths."""
    texts = [f"{'the red box and ' * (i % 4)}the sum of {i} is in the" for i in range(24)]
    added = [
        Example(id=f"n{i}", task="Neutral", prompt=text, answer=" box", distractors=(" key",), group=f"n/{i // 2}")
        for i, text in enumerate(texts)
    ]
    return Suite("with neutral", suite.examples + tuple(added))


def test_every_entry_of_the_matrix_is_a_direct_removal(tmp_path):
    trial = make_trial(tmp_path, suite=with_neutral(tiny.suite()))
    evidence, model, means = Specificity().run(trial), trial.context.model, Baselines("mean", trial.context)
    for task in trial.tasks:
        for eval_task in ("Colours", "Numbers", "Neutral"):
            examples = trial.context.examples(eval_task, "evaluate")
            heads = trial.rankings[task].top(2)
            expected = [without(model, example, heads, means.mean(eval_task))[0] for example in examples]
            intact = [without(model, example, ())[0] for example in examples]
            one = row(evidence, task=task, eval_task=eval_task, control="top", metric="logprob")
            assert one.value == pytest.approx(np.mean(expected), abs=1e-5)
            assert one.intact == pytest.approx(np.mean(intact), abs=1e-5)
            assert one.k == 2
            assert one.low <= one.value <= one.high
            assert row(evidence, task=task, eval_task=eval_task, control="top", metric="accuracy")


def test_the_comparison_with_other_tasks_heads_by_hand(tmp_path):
    tasks = ("Colours", "Numbers", "Shapes")
    trial = make_trial(tmp_path, suite=tiny.suite(tasks=tasks), tasks=tasks)
    evidence = Specificity().run(trial)
    sets = [trial.rankings[task].top(2) for task in tasks]
    for number, task in enumerate(tasks):
        outcome = trial.remove("By hand", {task: [INTACT, *sets]})[task]
        for metric, values in outcome.metrics.items():
            others = np.mean([values[1 + i] for i in range(3) if i != number], axis=0)
            difference = values[1 + number] - others
            one = row(evidence, task=task, eval_task=task, control="top", compared_with=OTHERS, metric=metric)
            assert one.value == pytest.approx(difference.mean(), abs=1e-6)
            np.testing.assert_allclose([one.low, one.high], bootstrap_mean(difference, trial.groups(task)), atol=1e-6)
    assert len(rows(evidence, compared_with=OTHERS)) == 9


@torch.no_grad()
def test_perplexity_by_hand(tmp_path):
    """Of all tokens but the first, of prompt and answer, under the mean of the neutral task itself."""
    trial = make_trial(tmp_path, suite=with_neutral(tiny.suite()))
    evidence, model = Specificity().run(trial), trial.context.model
    mean = Baselines("mean", trial.context).mean("Neutral")
    examples = trial.context.examples("Neutral", "evaluate")

    def perplexity(heads):
        total, count = 0.0, 0
        for example in examples:
            ids = encoded(example.prompt + example.answer)
            with model.gate(gate(heads), mean):
                logprobs = model.module(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
            total += sum(logprobs[i - 1, ids[i]].item() for i in range(1, len(ids)))
            count += len(ids) - 1
        return np.exp(-total / count)

    for task in trial.tasks:
        one = row(evidence, task=task, metric="perplexity")
        assert one.value == pytest.approx(perplexity(trial.rankings[task].top(2)), rel=1e-5)
        assert one.intact == pytest.approx(perplexity(()), rel=1e-5)
        assert one.eval_task == "Neutral"
        assert one.low <= one.value <= one.high


def test_planted_heads_are_specific_and_a_common_head_is_not(tmp_path):
    maps = {task: first(head) for task, head in tiny.HELPERS.items()}
    common = {task: first(tiny.HELPERS["Colours"]) for task in maps}
    model, suite = tiny.planted(), with_neutral(tiny.copying(36))
    specific = Specificity().run(make_trial(tmp_path / "a", model, suite, maps, k=1))
    for task in maps:
        assert row(specific, task=task, compared_with=OTHERS, metric="logprob").high < -1
        for other in maps:
            one = row(specific, task=task, eval_task=other, control="top", metric="logprob")
            assert (one.high < one.intact - 1) == (task == other)
    shared = Specificity().run(make_trial(tmp_path / "b", model, suite, common, k=1))
    for task in maps:
        assert row(shared, task=task, compared_with=OTHERS, metric="logprob").value == pytest.approx(0, abs=1e-6)


def test_without_neutral_text_there_is_no_perplexity_and_with_one_task_nothing_to_compare(tmp_path):
    evidence = Specificity().run(make_trial(tmp_path, suite=tiny.suite(tasks=("Colours",)), tasks=("Colours",)))
    assert {(one.control, one.compared_with) for one in evidence} == {("top", None)}
    assert {one.metric for one in evidence} == {"margin", "logprob", "accuracy"}


def test_k_is_the_number_of_heads_that_were_removed(tmp_path):
    grid = np.full((3, 4), np.nan)
    grid[1, :2] = 2, 1
    trial = make_trial(tmp_path, grids={"Colours": grid, "Numbers": grid}, k=4)
    assert len(trial.rankings["Colours"].top(4)) == 2
    assert {one.k for one in Specificity().run(trial)} == {2}


def test_as_a_share_margins_are_divided_by_what_the_single_heads_of_the_measured_task_take(tmp_path):
    trial = make_trial(tmp_path, suite=with_neutral(tiny.suite()), units={"Colours": 2.0, "Numbers": 0.5})
    evidence = Specificity().run(trial)
    for eval_task, unit in (("Colours", 2.0), ("Numbers", 0.5)):
        for task in trial.tasks:
            where = {"task": task, "eval_task": eval_task, "control": "top"}
            share, margin = (row(evidence, **where, metric=metric) for metric in ("share", "margin"))
            for name in ("value", "intact", "low", "high"):
                assert getattr(share, name) == pytest.approx(getattr(margin, name) / unit)
        compared = {m: row(evidence, task=eval_task, compared_with=OTHERS, metric=m) for m in ("share", "margin")}
        assert compared["share"].value == pytest.approx(compared["margin"].value / unit)
    assert not [one for one in evidence if one.eval_task == "Neutral" and one.metric == "share"], "it has no map"
