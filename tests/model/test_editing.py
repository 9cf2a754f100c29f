"""Edited weights compute what gating computes, as plain transformers loads them."""

import pytest
import torch
from transformers import AutoModelForCausalLM

from headatlas.errors import HeadAtlasError
from headatlas.model.editing import edit_weights, edited_from
from headatlas.model.loading import silence
from tests import tiny

IDS = torch.randint(tiny.VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(1))
WITHOUT_BIAS = {"mistral", "qwen2", "phi3", "stablelm", "qwen2_moe", "gptj", "mixtral"}


def reloaded(weights, folder):
    """The logits of a checkpoint in plain transformers."""
    with silence():
        weights.save(folder)
        module = AutoModelForCausalLM.from_pretrained(folder).eval()
    with torch.inference_mode():
        return module(input_ids=IDS, use_cache=False).logits


def gated(model, gates, baseline=None):
    with torch.inference_mode(), model.gate(gates, baseline):
        return model.logits(IDS)


def some_gates(model):
    gates = torch.ones(model.shape)
    gates[0, 1], gates[1, 0], gates[1, 2], gates[2, 3] = 0, 0, 2, 0.5
    return gates


@pytest.mark.parametrize("kind", tiny.FAMILIES)
def test_scaled_heads_are_gated_heads(kind, tmp_path):
    model, intact = tiny.model(kind), gated(tiny.model(kind), torch.ones(3, 4))
    expected = gated(model, some_gates(model))
    logits = reloaded(edit_weights(model, some_gates(model)), tmp_path)
    assert (logits - expected).abs().max() <= 1e-5
    assert (expected - intact).abs().max() > 0.1
    assert torch.equal(gated(model, torch.ones(3, 4)), intact), "the model itself is as it was"


@pytest.mark.parametrize("kind", tiny.FAMILIES)
def test_means_become_biases_where_there_is_room(kind, tmp_path):
    model = tiny.model(kind)
    means = torch.randn(3, 4, model.head_dim, generator=torch.Generator().manual_seed(0))
    if kind in WITHOUT_BIAS:
        with pytest.raises(HeadAtlasError, match="the out-projection of .* has no bias, and its configuration has no"):
            edit_weights(model, some_gates(model), means)
        return
    expected = gated(model, some_gates(model), means)
    logits = reloaded(edit_weights(model, some_gates(model), means), tmp_path)
    assert (logits - expected).abs().max() <= 1e-5
    assert (expected - gated(model, some_gates(model))).abs().max() > 0.05


def test_only_touched_layers_change(tmp_path):
    model = tiny.model()
    gates = torch.ones(model.shape)
    gates[1, 2] = 0
    assert list(edit_weights(model, gates).tensors) == ["model.layers.1.self_attn.o_proj.weight"]


def test_weights_outside_memory_are_refused():
    with torch.device("meta"):
        module = AutoModelForCausalLM.from_config(tiny.configs()["llama"])
    model = tiny.HeadModel(module)
    with pytest.raises(HeadAtlasError, match="layer 0 lie outside memory"):
        edit_weights(model, torch.zeros(model.shape))


def test_a_model_that_nobody_edited_has_no_record(tmp_path):
    assert edited_from(tmp_path) is None
    (tmp_path / "edit.json").write_text('{"original": {"name": "a", "fingerprint": "b"}}')
    assert edited_from(tmp_path) == ("a", "b")
