"""What heads look at: places proven on weights made by hand, and on models of every family."""

import numpy as np
import pytest
import torch
from headatlas.run.scoring import Encoder

from headatlas.methods.attention import LOOKS, attention
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.context import Work
from tests import tiny

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
    made = torch.einsum("bhqk,bkhd->bqhd", model.attention(IDS)[1], values)
    torch.testing.assert_close(made, z[1])


def test_the_usual_attention_is_back_after_an_error(monkeypatch):
    model = tiny.model()
    usual = model.module.config._attn_implementation

    def fail(**_):
        raise RuntimeError("no")

    monkeypatch.setattr(model.module, "forward", fail)
    with pytest.raises(RuntimeError):
        model.attention(IDS)
    assert model.module.config._attn_implementation == usual != "eager"


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


def work_on(model, folder) -> Work:
    return Work(model, tiny.suite().split(), Runner(folder, Reporter(quiet=True)), Encoder(model))


def test_every_look_is_told_from_the_others(tmp_path, monkeypatch):
    work = work_on(tiny.model(), tmp_path)
    monkeypatch.setattr(work.model, "attention", looking)
    found = attention(work)
    assert {entry.metric for entry in found} == set(LOOKS)
    for head, look in enumerate(LOOKS):
        own = np.array([entry.value for entry in found if entry.metric == look]).reshape(2, 5)
        assert own[0, head] == own[1, 4 - head] == 1, look
        assert np.delete(own[0], head).max() < 0.9, look  # heads that find no copy rest on the first token


def test_a_model_that_does_not_tell_gives_nothing(tmp_path, monkeypatch):
    work = work_on(tiny.model(), tmp_path)
    monkeypatch.setattr(work.model, "attention", lambda ids: None)
    assert attention(work) == []


def test_a_module_of_other_origin_gives_nothing(monkeypatch):
    model = tiny.model()
    plain = model.module.forward

    def forward(input_ids, use_cache):
        return plain(input_ids=input_ids, use_cache=use_cache)

    monkeypatch.setattr(model.module, "forward", forward)
    assert model.attention(IDS) is None


def test_a_short_context_is_kept(tmp_path):
    found = attention(work_on(tiny.model("gpt2", context=40), tmp_path))
    assert {entry.metric for entry in found} == set(LOOKS)


def test_weights_that_are_not_finite_count_as_untold(tmp_path, monkeypatch):
    work = work_on(tiny.model(), tmp_path)
    monkeypatch.setattr(work.model, "attention", lambda ids: tuple(one * torch.nan for one in looking(ids)))
    assert attention(work) == []


def test_looks_are_the_same_from_cells(tmp_path):
    first, again = (attention(work_on(tiny.model(), tmp_path)) for _ in range(2))
    assert first == again and len(first) == 5 * 3 * 4
