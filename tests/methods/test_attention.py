"""Where heads look: targets on weights made by hand, and weights of every family."""

import numpy as np
import pytest
import torch

from headatlas.methods.attention import TARGETS, Attention
from tests import tiny
from tests.run.contexts import run_context

IDS = torch.randint(3, tiny.VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("kind", tiny.FAMILIES)
@torch.no_grad()
def test_attention_of_every_family_is_causal_and_adds_up_and_leaves_the_model_as_it_was(kind):
    model = tiny.model(kind)
    before = model.logits(IDS)
    weights = model.attention(IDS)
    assert torch.equal(model.logits(IDS), before)
    if kind.startswith("falcon"):  # transformers cannot switch it; its other kernels return weights that see ahead
        assert weights is None
        return
    assert len(weights) == model.n_layers
    for layer in weights:
        assert layer.shape == (2, model.n_heads, 9, 9)
        torch.testing.assert_close(layer.sum(-1), torch.ones(2, model.n_heads, 9))
        assert layer.triu(1).abs().max() < 1e-9


@torch.no_grad()
def test_attention_weights_belong_to_their_heads():
    """Weights times values are z."""
    model = tiny.model("gpt2")
    seen = []
    block = model.module.transformer.h[1].attn.c_attn
    handle = block.register_forward_hook(lambda *args: seen.append(args[2]))
    with model.capture() as z:
        model.logits(IDS)
    handle.remove()
    values = seen[0].chunk(3, -1)[2].unflatten(-1, (model.n_heads, model.head_dim))
    computed = torch.einsum("bhqk,bkhd->bqhd", model.attention(IDS)[1], values)
    torch.testing.assert_close(computed, z[1])


def test_the_usual_attention_is_back_after_an_error(monkeypatch):
    model = tiny.model()
    usual = model.kernel

    def fail(**_):
        raise RuntimeError("no")

    monkeypatch.setattr(model.module, "forward", fail)
    with pytest.raises(RuntimeError):
        model.attention(IDS)
    assert model.kernel == usual == "sdpa"


def looking(ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Heads that look at one thing each: the first token, the previous, the current, an earlier copy, what followed."""
    (row,) = ids.tolist()
    weights = torch.zeros(1, 5, len(row), len(row))
    for i, token in enumerate(row):
        copy = row.index(token)
        after = copy + 1 if copy < i else 0
        for head, key in enumerate((0, max(i - 1, 0), i, copy if copy < i else 0, after)):
            weights[0, head, i, key] = 1
    return (weights, weights.flip(1))


def described(context):
    measured = Attention().measure(context)
    assert measured.maps == [], "a description has no maps"
    return measured.diagnostics


def test_every_target_is_told_from_the_others(tmp_path, monkeypatch):
    context = run_context(tmp_path)
    monkeypatch.setattr(context.model, "attention", looking)
    monkeypatch.setattr(context.model, "n_layers", 2)
    monkeypatch.setattr(context.model, "n_heads", 5)
    entries = described(context)
    assert {entry.metric for entry in entries} == set(TARGETS)
    for number, target in enumerate(TARGETS):
        shares = np.full((2, 5), np.nan)
        for entry in entries:
            if entry.metric == target:
                assert entry.method == "attention"
                shares[entry.layer, entry.head] = entry.value
        assert shares[0, number] == shares[1, 4 - number] == 1, target
        assert np.delete(shares[0], number).max() < 0.9, target  # heads that find no copy rest on the first token


def test_a_model_that_does_not_return_weights_gives_nothing(tmp_path, monkeypatch):
    context = run_context(tmp_path)
    monkeypatch.setattr(context.model, "attention", lambda ids: None)
    assert described(context) == []


def test_a_custom_module_that_does_not_accept_output_attentions_gives_nothing(monkeypatch):
    model = tiny.model()
    plain = model.module.forward

    def forward(input_ids, use_cache):
        return plain(input_ids=input_ids, use_cache=use_cache)

    monkeypatch.setattr(model.module, "forward", forward)
    assert model.attention(IDS) is None


def test_a_short_context_is_not_exceeded(tmp_path, monkeypatch):
    context = run_context(tmp_path, tiny.model("gpt2", context=40))
    widths, plain = [], context.model.attention
    monkeypatch.setattr(context.model, "attention", lambda ids: widths.append(ids.shape[1]) or plain(ids))
    assert {entry.metric for entry in described(context)} == set(TARGETS)
    assert max(widths) <= 40


def test_weights_that_are_not_finite_count_as_unavailable(tmp_path, monkeypatch):
    context = run_context(tmp_path)
    monkeypatch.setattr(context.model, "attention", lambda ids: tuple(one * torch.nan for one in looking(ids)))
    assert described(context) == []


def test_shares_are_the_same_from_cells(tmp_path):
    contexts = [run_context(tmp_path), run_context(tmp_path)]
    first, again = (described(context) for context in contexts)
    assert first == again and len(first) == 5 * 3 * 4
    assert contexts[0].runner.computed and not contexts[1].runner.computed
    for metric in TARGETS:
        heads = [(entry.layer, entry.head) for entry in first if entry.metric == metric]
        assert heads == list(contexts[0].heads)
