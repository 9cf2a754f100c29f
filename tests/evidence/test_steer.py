"""Pushing heads: the direction by hand, the place by hand, the strength from `choose` alone."""

import numpy as np
import pytest
import torch

from headatlas.evidence import steer as steer_module
from headatlas.evidence.steer import direction, push_batch, steer
from headatlas.evidence.trial import SPLIT
from headatlas.methods.probe.features import Reading, collect
from headatlas.suites.suite import Suite
from tests import tiny
from tests.evidence.common import hit, plain, row, rows, tokens, trial

SUITE = tiny.suite(72)


def test_the_direction_leads_from_wrong_to_right_as_long_as_the_spread_along_it():
    z = torch.zeros(4, 1, 2, 3)
    z[:, 0, 0] = torch.tensor([[3.0, 0, 1], [5, 0, 1], [-1, 0, 1], [1, 0, 1]])
    z[:, 0, 1] = torch.tensor([[0.0, 2, 0], [0, 2, 0], [0, -2, 4], [0, -2, -4]])
    right = torch.tensor([True, True, False, False])
    found = direction(z, right)
    spread = np.std([3, 5, -1, 1], ddof=1)
    torch.testing.assert_close(found[0, 0], torch.tensor([spread, 0, 0], dtype=torch.float32))
    torch.testing.assert_close(found[0, 1], torch.tensor([0, np.std([2, 2, -2, -2], ddof=1), 0], dtype=torch.float32))
    torch.testing.assert_close(direction(z, ~right), -found)


def test_where_right_and_wrong_do_not_differ_there_is_no_push():
    z = torch.ones(6, 1, 1, 4)
    assert direction(z, torch.tensor([True, False] * 3)).abs().max() == 0


def pushed(model, example, push: torch.Tensor) -> list[float]:
    """Every option alone and unpadded, the push added from the last token of the prompt on."""
    scores = []
    for option in (example.answer, *example.distractors):
        start, ids = len(tokens(example.prompt)), tokens(example.prompt + option)
        place = torch.zeros(1, len(ids), 1, 1)
        place[:, start - 1 :] = 1
        one = example.model_copy(update={"answer": option, "distractors": ()})
        scores += plain(model, one, model.add({layer: place * push[layer] for layer in range(model.n_layers)}))
    return scores


def long_options() -> Suite:
    """Options of several tokens, so that there are several positions to push at."""
    changes = [
        {"answer": f"{e.answer} item{e.answer}", "distractors": (e.distractors[0], f"{e.distractors[1]} zebra")}
        for e in tiny.suite().examples
    ]
    return Suite("long", tuple(e.model_copy(update=c) for e, c in zip(tiny.suite().examples, changes, strict=True)))


@pytest.mark.parametrize("kind", ["llama-grouped", "gpt2"])
def test_the_push_stands_only_where_tokens_of_an_answer_are_predicted(tmp_path, kind, monkeypatch):
    judged = trial(tmp_path, tiny.model(kind), long_options())
    model, examples = judged.work.model, judged.work.examples("Colours", SPLIT)
    pushes = torch.zeros(3, *model.shape, model.head_dim)
    generator = torch.Generator().manual_seed(0)
    pushes[1, 1, 2] = torch.randn(model.head_dim, generator=generator)
    pushes[2, [0, 2], [3, 1]] = torch.randn(2, model.head_dim, generator=generator)
    for room in (1, 100_000):
        monkeypatch.setattr(steer_module, "FORWARD_TOKENS", room)
        for batch in judged.batches("Colours"):
            found = push_batch(model, batch, pushes)
            for place, member in enumerate(batch.members):
                own = (batch.owners == place).numpy()
                for i, push in enumerate(pushes):
                    expected = pushed(model, examples[member], push)
                    np.testing.assert_allclose(found["logprobs"][i, own], expected, atol=2e-5)
                    intact = plain(model, examples[member])
                    assert (np.abs(np.subtract(expected, intact)).max() < 1e-5) == (i == 0)


def test_right_and_wrong_are_told_on_fit_and_read_at_the_first_token(tmp_path):
    judged = trial(tmp_path, suite=SUITE)
    model = judged.work.model
    pushes = steer_module._pushes(judged)
    for task in judged.tasks:
        examples = judged.work.examples(task, "fit")
        right = torch.tensor([hit(plain(model, example)) > 0 for example in examples])
        z = torch.from_numpy(collect(judged.work, "fit", Reading("first"))[task])
        expected = direction(z.unflatten(1, (3, 4, model.head_dim)), right)
        for layer, head in judged.work.heads:
            if (layer, head) in judged.rankings[task].top(2):
                torch.testing.assert_close(pushes[task][layer, head], expected[layer, head], atol=1e-5, rtol=1e-4)
                assert expected[layer, head].abs().max() > 0
            else:
                assert pushes[task][layer, head].abs().max() == 0


def test_the_strength_is_the_best_on_choose_and_the_gain_is_measured_on_evaluate(tmp_path):
    judged = trial(tmp_path, suite=SUITE, strengths=(1.0, 3.0, 8.0))
    found, model, pushes = steer(judged), judged.work.model, steer_module._pushes(judged)
    for task in judged.tasks:
        best = []
        for alpha in (1.0, 3.0, 8.0):
            scores = [pushed(model, e, alpha * pushes[task]) for e in judged.work.examples(task, "choose")]
            best.append((np.mean([hit(s) for s in scores]), np.mean([s[0] for s in scores]), alpha))
        chosen = row(found, task=task, metric="alpha").value
        assert chosen == max(best)[2]
        scores = [pushed(model, e, chosen * pushes[task]) for e in judged.work.examples(task, SPLIT)]
        for metric, expected in (("logprob", [s[0] for s in scores]), ("accuracy", [hit(s) for s in scores])):
            one = row(found, task=task, eval_task=task, control="steer", metric=metric)
            assert one.value == pytest.approx(np.mean(expected), abs=1e-4)


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
        found = steer(trial(tmp_path / name, suite=suite))
        alphas.append([one.value for one in rows(found, metric="alpha")])
        gains.append([one.value for one in rows(found, control="steer", metric="logprob")])
    assert alphas[0] == alphas[1]
    assert len(alphas[0]) == 2
    assert not np.allclose(gains[0], gains[1])


def test_scaling_the_heads_is_gating_them(tmp_path):
    judged = trial(tmp_path, suite=SUITE, scales=(0.5, 2.0))
    found, model = steer(judged), judged.work.model
    for task in judged.tasks:
        for scale in (0.5, 2.0):
            gates = torch.ones(model.shape)
            for head in judged.rankings[task].top(2):
                gates[head] = scale
            expected = []
            for example in judged.work.examples(task, SPLIT):
                one = example.model_copy(update={"distractors": ()})
                expected += plain(model, one, model.gate(gates))
            one = row(found, task=task, eval_task=task, control=f"scale {scale:g}", metric="logprob")
            assert one.value == pytest.approx(np.mean(expected), abs=1e-5)
            assert one.baseline != pytest.approx(one.value, abs=1e-4)


def test_the_cost_on_neutral_text_is_measured_for_every_task(tmp_path):
    neutral = [e.model_copy(update={"task": "Neutral"}) for e in tiny.suite(tasks=("Other",)).examples]
    judged = trial(tmp_path, suite=Suite("with neutral", (*SUITE.examples, *neutral)))
    found = steer(judged)
    assert {(one.task, one.control) for one in rows(found, eval_task="Neutral", metric="logprob")} == {
        (task, control) for task in ("Colours", "Numbers") for control in ("steer", "scale 0.5", "scale 1.5", "scale 2")
    }
    pushes = steer_module._pushes(judged)
    for task in judged.tasks:
        alpha = row(found, task=task, metric="alpha").value
        examples = judged.work.examples("Neutral", SPLIT)
        expected = [pushed(judged.work.model, e, alpha * pushes[task])[0] for e in examples]
        one = row(found, task=task, eval_task="Neutral", control="steer", metric="logprob")
        assert one.value == pytest.approx(np.mean(expected), abs=1e-4)


def test_with_too_few_right_or_wrong_items_nothing_is_steered_and_that_is_said(tmp_path):
    judged = trial(tmp_path, tiny.planted(), tiny.copying(24))  # it gets everything right
    found = steer(judged)
    assert {one.control for one in found} == {"scale 0.5", "scale 1.5", "scale 2"}
    count = len(judged.work.examples("Colours", "fit"))
    assert (
        f"Colours is not steered: {count} items right and 0 wrong in the fit split; a direction needs 5 of each."
        in judged.work.runner.reporter.said
    )
