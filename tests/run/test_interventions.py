"""Interventions that share a forward, against one at a time: a gate or a push by hand, nothing repeated or skipped."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from headatlas.methods.effects import single_heads
from headatlas.run import interventions
from headatlas.run.ablation import ablate_each
from headatlas.run.baselines import Baselines
from headatlas.run.batches import make_batches
from headatlas.run.interventions import (
    Gates,
    GatesByExample,
    Pushes,
    gate_gradient,
    gates_scaling,
    gates_without,
    score_intact,
    score_together,
    score_under,
)
from headatlas.run.outcomes import by_example
from headatlas.suites.suite import Suite
from tests import tiny
from tests.run.contexts import run_context
from tests.run.reference import plain_logprob

KINDS = ("llama-grouped", "gpt2", "bloom", "falcon-grouped", "gemma2", "qwen3_moe")
INTACT = frozenset()
SETS = [INTACT, frozenset({(1, 2)}), frozenset({(0, 0), (2, 3)})]


# Gates


@pytest.mark.parametrize("baseline", ["mean", "zero", "resample"])
def test_gates_that_share_a_forward_are_gates_one_at_a_time(tmp_path, baseline, monkeypatch):
    context = run_context(tmp_path)
    model, baselines = context.model, Baselines(baseline, context)
    gates = gates_without(model.shape, SETS)
    for batch in context.batches("Colours", "evaluate", with_distractors=True):
        intervention = Gates(gates, baselines.for_batch("Colours", batch))
        monkeypatch.setattr(interventions, "FORWARD_TOKENS", 10 * batch.ids.numel())
        together = score_under(model, batch, intervention)
        for i in range(len(SETS)):
            with torch.inference_mode(), model.gate(gates[i], intervention.baseline):
                logprobs, greedy = batch.score(model)
            np.testing.assert_allclose(together["logprobs"][i], logprobs, atol=1e-5)
            np.testing.assert_array_equal(together["greedy"][i], greedy)
        monkeypatch.setattr(interventions, "FORWARD_TOKENS", 1)
        one_by_one = score_under(model, batch, intervention)
        np.testing.assert_allclose(one_by_one["logprobs"], together["logprobs"], atol=1e-5)
        assert np.abs(together["logprobs"][1] - together["logprobs"][0]).max() > 0.01


def test_open_gates_are_the_intact_model(tmp_path):
    context = run_context(tmp_path)
    for batch in context.batches("Numbers", "choose", with_distractors=True):
        intact = score_intact(context.model, batch)
        opened = score_under(context.model, batch, Gates(torch.ones(1, *context.model.shape)))
        # The same call, layers whose gates are open are not touched: the same bits.
        np.testing.assert_array_equal(opened["logprobs"][0], intact["logprobs"])
        np.testing.assert_array_equal(opened["greedy"][0], intact["greedy"])


def test_as_few_forwards_as_there_is_room_for(tmp_path, monkeypatch):
    context = run_context(tmp_path)
    batch = context.batches("Colours", "fit")[0]
    assert context.model.sharing.layers  # tried once, with forwards of its own
    rows, plain = [], context.model.logits
    monkeypatch.setattr(context.model, "logits", lambda ids: rows.append(len(ids)) or plain(ids))
    monkeypatch.setattr(interventions, "FORWARD_TOKENS", 4 * batch.ids.numel())
    score_under(context.model, batch, Gates(torch.ones(9, *context.model.shape)))
    assert rows == [3 * batch.size] * 3, "as even as can be: the largest forward decides the memory"


def test_copies_never_need_more_forwards_or_more_room():
    for count in range(1, 30):
        for room in range(1, 12):
            size = interventions.copies_together(count, interventions.FORWARD_TOKENS // room)
            assert size <= max(room, 1)
            assert -(-count // size) == -(-count // room)
    assert interventions.copies_together(5, 10 * interventions.FORWARD_TOKENS) == 1
    assert interventions.copies_together(0, 1) == 1


def test_the_last_layer_runs_where_it_is_scored_and_gives_the_same(tmp_path, monkeypatch):
    context = run_context(tmp_path)
    model, batch = context.model, context.batches("Colours", "fit")[0]
    gates = Gates(torch.full((1, *model.shape), 0.5))
    runs = (
        lambda: score_intact(model, batch)["logprobs"],
        lambda: score_under(model, batch, gates)["logprobs"],
        lambda: gate_gradient(model, batch, None),
    )
    positions = []
    handle = model.layers[-1].mlp.down_proj.register_forward_hook(
        lambda _, __, out: positions.append(out[..., 0].numel())
    )
    shorter = [run() for run in runs]
    monkeypatch.setattr(model, "sharing", replace(model.sharing, last_layer=False))
    whole = [run() for run in runs]
    handle.remove()
    scored = len(torch.stack([batch.rows, batch.positions]).unique(dim=1)[0])
    assert positions[-6:] == [scored] * 3 + [batch.ids.numel()] * 3
    for short, long in zip(shorter, whole, strict=True):
        np.testing.assert_allclose(short, long, atol=1e-5)


def test_gates_can_be_differentiated_through_their_score(tmp_path):
    context = run_context(tmp_path)
    batch = context.batches("Colours", "fit")[0]
    gates = torch.ones(2, *context.model.shape, requires_grad=True)
    logprobs, _ = score_together(context.model, batch, Gates(gates))
    (gradient,) = torch.autograd.grad(logprobs.sum(), gates)
    expected = gate_gradient(context.model, batch, None).sum(0).reshape(context.model.shape)
    for copy in gradient:
        np.testing.assert_allclose(copy, expected, atol=1e-4)


def test_gates_are_zero_for_the_removed_heads_alone():
    gates = gates_without((2, 3), [frozenset({(0, 1), (1, 2)}), INTACT])
    assert gates.tolist() == [[[1, 0, 1], [1, 1, 0]], [[1, 1, 1], [1, 1, 1]]]
    scaled = gates_scaling((2, 2), [(frozenset({(0, 1)}), 0.5), (frozenset({(1, 0), (1, 1)}), 2.0)])
    assert scaled.tolist() == [[[1, 0.5], [1, 1]], [[1, 1], [2, 2]]]


def test_gates_by_example_are_the_gates_of_that_example_alone(tmp_path):
    context = run_context(tmp_path)
    model, examples = context.model, context.examples("Colours", "evaluate")
    sets = [frozenset({(i % 3, i % 4)}) if i % 3 else INTACT for i in range(len(examples))]
    gates = gates_without(model.shape, sets)
    baseline = torch.randn(*model.shape, model.head_dim, generator=torch.Generator().manual_seed(0))
    options = [context.encoder.encode(example) for example in examples]
    seen = set()
    for batch in make_batches(options, 200):  # members are not in order, and some options have rows of their own
        scores = score_under(model, batch, GatesByExample(gates, baseline))
        assert scores["logprobs"].shape == (1, len(batch.owners))
        for member, logprobs, _ in by_example(batch, scores):
            with model.gate(gates[member], baseline):
                expected = [plain_logprob(model, option.tokens, option.start) for option in options[member]]
            np.testing.assert_allclose(logprobs[0], expected, atol=1e-5)
            seen.add(member)
    assert seen == set(range(len(examples)))


# Gradients


@pytest.mark.parametrize("baseline", ["zero", "mean", "resample"])
def test_where_heads_are_faint_the_gradient_is_the_ablation_effect(tmp_path, baseline):
    """To first order both are the same number; heads a thousand times fainter leave nothing but the first order."""
    model = tiny.model("gpt2")
    with torch.no_grad():
        for layer in range(model.n_layers):
            model.out_weight(layer).mul_(1e-3)
    model.module.double()
    context = run_context(tmp_path, model)
    batch = context.batches("Colours", "fit")[0]
    replacement = Baselines(baseline, context).for_batch("Colours", batch)
    estimated = gate_gradient(model, batch, replacement)
    exact = ablate_each(model, batch, single_heads(context.heads), replacement)
    assert np.abs(exact).max() > 1e-6
    np.testing.assert_allclose(estimated, exact, atol=0.03 * np.abs(exact).max())
    assert np.corrcoef(estimated.ravel(), exact.ravel())[0, 1] > 0.999


def test_the_gradient_is_gradient_times_activation_summed_over_positions(tmp_path):
    context = run_context(tmp_path)
    batch = context.batches("Numbers", "fit")[0]
    with context.model.capture(grad=True) as z:
        logprobs, _ = batch.score(context.model)
    gradients = torch.autograd.grad(logprobs.sum(), [z[layer] for layer in range(3)])
    expected = torch.stack([(z[layer] * gradients[layer]).sum((1, 3)) for layer in range(3)], 1)
    np.testing.assert_allclose(gate_gradient(context.model, batch, None), expected.detach().flatten(1), atol=1e-5)


# Pushes


def long_options() -> Suite:
    """Options of several tokens, so that there are several positions to push at."""
    changes = [
        {"answer": f"{e.answer} item{e.answer}", "distractors": (e.distractors[0], f"{e.distractors[1]} zebra")}
        for e in tiny.suite().examples
    ]
    return Suite("long", tuple(e.model_copy(update=c) for e, c in zip(tiny.suite().examples, changes, strict=True)))


def pushed(model, option, push: torch.Tensor) -> float:
    """An option alone and unpadded, the push added from the last token of the prompt on."""
    answering = torch.zeros(1, len(option.tokens), 1, 1)
    answering[:, option.start - 1 :] = 1
    with model.add({layer: answering * push[layer] for layer in range(model.n_layers)}):
        return plain_logprob(model, option.tokens, option.start)


@pytest.mark.parametrize("kind", ["llama-grouped", "gpt2"])
def test_a_push_acts_only_where_tokens_of_an_answer_are_predicted(tmp_path, kind, monkeypatch):
    context = run_context(tmp_path, tiny.model(kind), long_options())
    model, examples = context.model, context.examples("Colours", "evaluate")
    pushes = torch.zeros(3, *model.shape, model.head_dim)
    generator = torch.Generator().manual_seed(0)
    pushes[1, 1, 2] = torch.randn(model.head_dim, generator=generator)
    pushes[2, [0, 2], [3, 1]] = torch.randn(2, model.head_dim, generator=generator)
    for room in (1, 100_000):
        monkeypatch.setattr(interventions, "FORWARD_TOKENS", room)
        for batch in context.batches("Colours", "evaluate", with_distractors=True):
            scores = score_under(model, batch, Pushes(pushes))
            for member, logprobs, _ in by_example(batch, scores):
                options = context.encoder.encode(examples[member])
                intact = [plain_logprob(model, option.tokens, option.start) for option in options]
                for i, push in enumerate(pushes):
                    expected = [pushed(model, option, push) for option in options]
                    np.testing.assert_allclose(logprobs[i], expected, atol=2e-5)
                    assert (np.abs(np.subtract(expected, intact)).max() < 1e-5) == (i == 0)
