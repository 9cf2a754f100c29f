"""Scores under many sets of gates and many pushes, against forwards that share nothing."""

import numpy as np
import pytest
import torch

from headatlas.model.sharing import Sharing
from headatlas.run import packing
from headatlas.run.baselines import Baselines
from headatlas.run.interventions import Gates, Pushes, gates_without, score_intact, score_under
from headatlas.run.packing import Starts, Trunks, pack, prefix_of
from headatlas.run.sets import score_pushes, score_sets, starts_of, work_of_sets
from headatlas.suites.suite import Suite
from tests import tiny
from tests.run.contexts import run_context

KINDS = ["llama-grouped", "mistral", "gemma2", "gpt2", "bloom", "falcon-grouped", "opt", "gptj", "qwen3_moe"]
SETS = [
    frozenset(),
    frozenset({(2, 1)}),
    frozenset({(0, 3), (2, 0)}),
    frozenset({(1, 2), (1, 0)}),
    frozenset({(1, 1), (2, 2)}),
    frozenset({(0, 0)}),
]


def options_alike() -> Suite:
    """Examples with options of several tokens, so that the rows of one example share its prompt."""
    changes = [{"distractors": (*e.distractors, f"{e.answer} item", f" item{e.answer}")} for e in tiny.suite().examples]
    return Suite("alike", tuple(e.model_copy(update=c) for e, c in zip(tiny.suite().examples, changes, strict=True)))


def options(context, task="Colours"):
    return [context.encoder.encode(example) for example in context.examples(task, "evaluate")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("baseline", ["mean", "resample"])
def test_shared_forwards_give_what_whole_ones_give(tmp_path, kind, baseline):
    context = run_context(tmp_path, tiny.model(kind), options_alike())
    model, baselines = context.model, Baselines(baseline, context)
    gates = gates_without(model.shape, SETS)
    starts = starts_of(model, gates)
    batches = pack(options(context), starts, share=True)
    assert any(prefix_of(batch, starts) for batch in batches)
    for batch in batches[:2]:
        replaced = baselines.for_batch("Colours", batch)
        shared = score_sets(model, batch, gates, replaced)
        whole = score_under(model, batch, Gates(gates, replaced))
        np.testing.assert_allclose(shared["logprobs"], whole["logprobs"], atol=1e-5)
        np.testing.assert_array_equal(shared["greedy"], whole["greedy"])
        assert np.abs(whole["logprobs"][1:] - whole["logprobs"][0]).max(1).min() > 1e-3


# Fourteen sets that remove one of two heads from the lowest layer, and different ones above; one that starts later.
UPPER = [frozenset({(2, head)}) | frozenset({(2, other)}) for head in range(4) for other in range(head, 4)][:7]
ALIKE = [frozenset({(0, lower)}) | upper for upper in UPPER for lower in (1, 3)] + [frozenset({(1, 2)})]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("baseline", ["mean", "resample"])
def test_sets_that_are_alike_in_their_lower_layers_share_these_and_give_the_same(tmp_path, kind, baseline, monkeypatch):
    monkeypatch.setattr(packing, "OVERHEAD", 1)
    context = run_context(tmp_path, tiny.model(kind), options_alike())
    model, baselines = context.model, Baselines(baseline, context)
    gates = gates_without(model.shape, ALIKE)
    starts = starts_of(model, gates)
    batch = pack(options(context), starts, share=True)[0]
    prefix = prefix_of(batch, starts) if baseline == "mean" else 0
    rest = batch.after(prefix).ids.numel()
    trunks = starts.trunks(prefix, rest)
    assert (trunks.cut, sorted(zip(trunks.first, map(len, trunks.sets), strict=True))) == (2, [(0, 7), (0, 7), (1, 1)])
    replaced = baselines.for_batch("Colours", batch)
    shared = score_sets(model, batch, gates, replaced)
    whole = score_under(model, batch, Gates(gates, replaced))
    np.testing.assert_allclose(shared["logprobs"], whole["logprobs"], atol=1e-5)
    np.testing.assert_array_equal(shared["greedy"], whole["greedy"])
    assert np.abs(whole["logprobs"] - whole["logprobs"][-1])[:-1].max(1).min() > 1e-3
    tokens, _ = work_of_sets(batch, starts, share=baseline == "mean")
    # In thirds of a forward: the intact model, two trunks of two layers, 14 sets above them, one set of two layers.
    assert tokens == pytest.approx((prefix + rest) * (3 + 2 * 2 + 14 * 1 + 2) / 3)


def test_sets_share_lower_layers_only_where_that_saves_more_than_another_forward():
    apart = Starts((0, 0), 3, ((0, 0), (0, 1), (0, 1)))
    alike = Starts((0, 0), 3, ((0, 0), (0, 0), (0, 0)))
    assert apart.trunks(0, 1000) is None
    assert alike.trunks(0, 1000) == Trunks(2, ((0, 1),), (0,))
    assert alike.trunks(0, 5) is None
    assert alike.cost(0, 1000) < apart.cost(0, 1000)


@pytest.mark.parametrize("kind", KINDS)
def test_pushes_after_shared_prompts_give_what_whole_forwards_give(tmp_path, kind):
    context = run_context(tmp_path, tiny.model(kind), options_alike())
    model = context.model
    pushes = torch.zeros(3, *model.shape, model.head_dim)
    pushes[1, 1, 2], pushes[2, 2, 1] = torch.randn(2, model.head_dim, generator=torch.Generator().manual_seed(0))
    for batch in context.batches("Colours", "evaluate", with_distractors=True, closed=True):
        shared, whole = score_pushes(model, batch, pushes), score_under(model, batch, Pushes(pushes))
        np.testing.assert_allclose(shared["logprobs"], whole["logprobs"], atol=1e-5)
        np.testing.assert_array_equal(shared["greedy"], whole["greedy"])
        assert np.abs(whole["logprobs"][1:] - whole["logprobs"][0]).max(1).min() > 1e-3


@pytest.mark.parametrize("layers", [True, False])
def test_models_that_share_less_give_the_same(tmp_path, layers):
    context = run_context(tmp_path, tiny.model(), options_alike())
    model = context.model
    gates, pushes = gates_without(model.shape, SETS), torch.ones(2, *model.shape, model.head_dim)
    batch = pack(options(context), starts_of(model, gates), share=True)[0]
    expected = [score_sets(model, batch, gates)["logprobs"], score_pushes(model, batch, pushes)["logprobs"]]
    model.sharing = Sharing(layers=layers, prefix=False, last_layer=False, tokens=False)
    fed, plain = [], model.logits
    model.logits = lambda ids: fed.append(ids.shape[1]) or plain(ids)
    scores = [score_sets(model, batch, gates)["logprobs"], score_pushes(model, batch, pushes)["logprobs"]]
    for one, other in zip(scores, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    assert set(fed) == {batch.ids.shape[1]}, "whole texts"


def test_a_set_that_changes_nothing_is_the_intact_model_to_the_bit(tmp_path):
    context = run_context(tmp_path)
    batch = context.batches("Colours", "fit")[0]
    intact = score_intact(context.model, batch)
    scores = score_sets(context.model, batch, gates_without(context.model.shape, [frozenset(), frozenset({(2, 1)})]))
    np.testing.assert_array_equal(scores["logprobs"][0], intact["logprobs"])
    np.testing.assert_array_equal(scores["greedy"][0], intact["greedy"])


def test_sets_start_at_the_first_layer_that_they_change(tmp_path):
    model = tiny.model()
    gates = gates_without(model.shape, SETS)
    assert starts_of(model, gates) == Starts((3, 2, 0, 1, 1, 0), 3)
    model.sharing = Sharing(layers=False, prefix=False, last_layer=False, tokens=False)
    assert starts_of(model, gates) == Starts((3, 0, 0, 0, 0, 0), 3), "the intact model is run anyway"
