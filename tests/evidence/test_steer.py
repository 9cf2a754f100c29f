"""Pushing heads: the direction by hand, the strength from `choose` alone, the gain on `evaluate`."""

import numpy as np
import pytest
import torch

from headatlas.evidence.base import SPLIT
from headatlas.evidence.steer import DIRECTIONS, HEADS, Steer, direction, steering_sources
from headatlas.methods.probe.features import collect
from headatlas.methods.probe.reading import Reading
from headatlas.suites.suite import Suite
from tests import tiny
from tests.evidence.common import hit, make_trial, plain, row, rows

SUITE = tiny.suite(72)


def test_the_direction_leads_from_wrong_to_right_as_long_as_the_spread_along_it():
    z = np.zeros((4, 1, 2, 3), dtype=np.float32)
    z[:, 0, 0] = [[3.0, 0, 1], [5, 0, 1], [-1, 0, 1], [1, 0, 1]]
    z[:, 0, 1] = [[0.0, 2, 0], [0, 2, 0], [0, -2, 4], [0, -2, -4]]
    right = np.array([True, True, False, False])
    push = direction(z, right)
    assert push.dtype == np.float32
    np.testing.assert_allclose(push[0, 0], [np.std([3, 5, -1, 1], ddof=1), 0, 0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(push[0, 1], [0, np.std([2, 2, -2, -2], ddof=1), 0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(direction(z, ~right), -push, atol=1e-6)


def steering_directions(trial):
    return {task: source.push(trial.top(task)) for task, source in steering_sources(trial).items()}


def test_where_right_and_wrong_do_not_differ_there_is_no_push():
    z = np.ones((6, 1, 1, 4), dtype=np.float32)
    assert np.abs(direction(z, np.array([True, False] * 3))).max() == 0


def pushed(model, example, push: np.ndarray) -> list[float]:
    """Every option alone and unpadded, the push added from the last token of the prompt on."""

    def add(tokens, start):
        answering = torch.zeros(1, len(tokens), 1, 1)
        answering[:, start - 1 :] = 1
        return model.add({layer: answering * torch.from_numpy(push[layer]) for layer in range(model.n_layers)})

    return plain(model, example, add)


def test_right_and_wrong_are_told_on_fit_and_read_at_the_first_token(tmp_path):
    trial = make_trial(tmp_path, suite=SUITE)
    model = trial.context.model
    pushes = steering_directions(trial)
    for task in trial.tasks:
        examples = trial.context.examples(task, "fit")
        right = np.array([hit(plain(model, example)) > 0 for example in examples])
        z = collect(trial.context, "fit", Reading("first"))[task]
        expected = direction(z.reshape(-1, 3, 4, model.head_dim), right)
        for layer, head in trial.context.heads:
            if (layer, head) in trial.rankings[task].top(2):
                np.testing.assert_allclose(pushes[task][layer, head], expected[layer, head], atol=1e-5, rtol=1e-4)
                assert np.abs(expected[layer, head]).max() > 0
            else:
                assert np.abs(pushes[task][layer, head]).max() == 0


def test_the_strength_is_the_best_on_choose_and_the_gain_is_measured_on_evaluate(tmp_path):
    trial = make_trial(tmp_path, suite=SUITE, strengths=(1.0, 3.0, 8.0))
    evidence, model, pushes = Steer().run(trial), trial.context.model, steering_directions(trial)
    for task in trial.tasks:
        best = []
        for alpha in (1.0, 3.0, 8.0):
            scores = [
                pushed(model, e, np.float32(alpha) * pushes[task]) for e in trial.context.examples(task, "choose")
            ]
            best.append((np.mean([hit(s) for s in scores]), np.mean([s[0] for s in scores]), alpha))
        (chosen,) = {one.factor for one in rows(evidence, task=task, control="steer")}
        assert chosen == max(best)[2]
        scores = [pushed(model, e, np.float32(chosen) * pushes[task]) for e in trial.context.examples(task, SPLIT)]
        for metric, expected in (("logprob", [s[0] for s in scores]), ("accuracy", [hit(s) for s in scores])):
            one = row(evidence, task=task, eval_task=task, control="steer", metric=metric)
            assert one.value == pytest.approx(np.mean(expected), abs=1e-4)


def test_the_push_is_compared_with_shuffled_items_and_with_other_heads_at_every_strength(tmp_path):
    trial = make_trial(tmp_path, suite=SUITE, strengths=(1.0, 8.0), few_draws=5)
    evidence, model = Steer().run(trial), trial.context.model
    for task, source in steering_sources(trial).items():
        examples, push = trial.context.examples(task, SPLIT), source.push(trial.top(task))
        others = [source.push(heads) for heads in trial.draws(task, 2, 5)]
        for alpha in (1.0, 8.0):
            steered, *moved = (
                np.mean([pushed(model, e, np.float32(alpha) * one)[0] for e in examples]) for one in (push, *others)
            )
            one = row(evidence, task=task, compared_with=HEADS, factor=alpha, metric="logprob")
            assert one.value == pytest.approx(steered - np.mean(moved), abs=1e-4)
            at_least = sum(level >= steered - 1e-6 for level in moved)
            assert one.p_value == pytest.approx((1 + at_least) / (1 + len(others)))
            other = row(evidence, task=task, compared_with=DIRECTIONS, factor=alpha, metric="logprob")
            assert (other.control, other.k, other.eval_task) == ("steer", 2, task)
            assert other.low < other.value < other.high
            assert row(evidence, task=task, compared_with=DIRECTIONS, factor=alpha, metric="accuracy").p_value is None
        shuffled = source.shuffled(np.random.default_rng(0))
        assert shuffled.right.sum() == source.right.sum()
        random = shuffled.push(trial.top(task), like=source)
        np.testing.assert_allclose(np.linalg.norm(random, axis=-1), np.linalg.norm(push, axis=-1), rtol=1e-4, atol=1e-6)
        assert np.abs(random - push).max() > 1e-3


def test_other_evaluated_examples_leave_the_strength_alone(tmp_path):
    splits = SUITE.split()
    swapped = [
        e.model_copy(update={"answer": e.distractors[0], "distractors": (e.answer, e.distractors[1])})
        for e in splits["evaluate"].examples
    ]
    changed = {e.id: e for e in swapped}
    other = Suite("other", tuple(changed.get(e.id, e) for e in SUITE.examples))
    alphas, gains = [], []
    for name, suite in (("a", SUITE), ("b", other)):
        evidence = Steer().run(make_trial(tmp_path / name, suite=suite))
        alphas.append([one.factor for one in rows(evidence, control="steer", metric="logprob")])
        gains.append([one.value for one in rows(evidence, control="steer", metric="logprob")])
    assert alphas[0] == alphas[1]
    assert len(alphas[0]) == 2
    assert not np.allclose(gains[0], gains[1])


def test_scaling_the_heads_is_gating_them(tmp_path):
    trial = make_trial(tmp_path, suite=SUITE, scales=(0.5, 2.0))
    evidence, model = Steer().run(trial), trial.context.model
    for task in trial.tasks:
        for scale in (0.5, 2.0):
            gates = torch.ones(model.shape)
            for head in trial.rankings[task].top(2):
                gates[head] = scale
            expected = []
            for example in trial.context.examples(task, SPLIT):
                one = example.model_copy(update={"distractors": ()})
                expected += plain(model, one, lambda *_, gates=gates: model.gate(gates))
            one = row(evidence, task=task, eval_task=task, control="scale", factor=scale, metric="logprob")
            assert one.value == pytest.approx(np.mean(expected), abs=1e-5)
            assert one.intact != pytest.approx(one.value, abs=1e-4)


def test_the_cost_on_neutral_text_is_measured_for_every_task(tmp_path):
    neutral = [e.model_copy(update={"task": "Neutral"}) for e in tiny.suite(tasks=("Other",)).examples]
    trial = make_trial(tmp_path, suite=Suite("with neutral", (*SUITE.examples, *neutral)))
    evidence = Steer().run(trial)
    on_neutral = rows(evidence, eval_task="Neutral", metric="logprob")
    assert {(one.task, one.factor) for one in on_neutral if one.control == "scale"} == {
        (task, factor) for task in ("Colours", "Numbers") for factor in (0.5, 1.5, 2.0)
    }
    assert [one.task for one in on_neutral if one.control == "steer"] == ["Colours", "Numbers"]
    assert len(on_neutral) == 8
    pushes = steering_directions(trial)
    for task in trial.tasks:
        alpha = row(evidence, task=task, eval_task=task, control="steer", metric="logprob").factor
        examples = trial.context.examples("Neutral", SPLIT)
        expected = [pushed(trial.context.model, e, np.float32(alpha) * pushes[task])[0] for e in examples]
        one = row(evidence, task=task, eval_task="Neutral", control="steer", metric="logprob")
        assert one.value == pytest.approx(np.mean(expected), abs=1e-4)


def test_with_too_few_right_or_wrong_items_nothing_is_steered_and_that_is_said(tmp_path):
    trial = make_trial(tmp_path, tiny.planted(), tiny.copying(24))  # it gets everything right
    evidence = Steer().run(trial)
    assert {(one.control, one.factor) for one in evidence} == {("scale", 0.5), ("scale", 1.5), ("scale", 2.0)}
    count = len(trial.context.examples("Colours", "fit"))
    assert (
        f"Colours is not steered: {count} items right and 0 wrong in the fit split; a direction needs 5 of each."
        in trial.context.runner.reporter.said
    )
