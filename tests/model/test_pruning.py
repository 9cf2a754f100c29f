"""A pruned model computes what the whole one computes with the same heads at zero."""

import pytest
import torch

from headatlas.errors import HeadAtlasError, UsageError
from headatlas.model.pruning import prune_weights
from tests import tiny
from tests.model.test_editing import gated, reloaded

REFUSED = {
    "gpt2": "configuration refuses", "gpt_neox": "configuration refuses", "opt": "configuration refuses",
    "bloom": "configuration refuses", "gptj": "configuration refuses", "gpt_neo": "configuration refuses",
    "llama": "configuration refuses so many heads .*not a multiple", "falcon": "must leave some of the 1 groups",
    "falcon-grouped": "number of key-value heads follows", "olmo2": "q_norm.weight' mixes all heads",
    "stablelm": "the size of its heads is the hidden size over their number",
}  # fmt: skip


def another_group_in_every_layer(model, count=1):
    return {
        (layer, head)
        for layer in range(model.n_layers)
        for number in range(count)
        for head in model.kv_groups[(layer + number) % model.n_kv_heads]
    }


def closed(model, heads):
    gates = torch.ones(model.shape)
    for head in heads:
        gates[head] = 0
    return gates


@pytest.mark.parametrize("kind", tiny.FAMILIES)
def test_pruned_heads_are_gated_heads(kind, tmp_path):
    model = tiny.model(kind)
    heads = another_group_in_every_layer(model)
    if kind in REFUSED:
        with pytest.raises(HeadAtlasError, match=REFUSED[kind]):
            prune_weights(model, heads)
        return
    weights = prune_weights(model, heads)
    assert (reloaded(weights, tmp_path) - gated(model, closed(model, heads))).abs().max() <= 1e-5
    kv, width = model.n_kv_heads // 2, model.n_heads // 2 * model.head_dim
    shapes = {
        name.split("layers.0.self_attn.")[1]: tuple(t.shape) for name, t in weights.tensors.items() if ".0." in name
    }
    out = "dense.weight" if kind == "phi" else "o_proj.weight"
    assert shapes[out] == (32, width)
    assert shapes.get("k_proj.weight", (kv * model.head_dim, 32)) == (kv * model.head_dim, 32)


def test_heads_with_keys_of_their_own_are_pruned_one_by_one(tmp_path):
    model = tiny.model("llama")
    heads = another_group_in_every_layer(model, count=2)
    assert len(heads) == 6
    logits = reloaded(prune_weights(model, heads), tmp_path)
    assert (logits - gated(model, closed(model, heads))).abs().max() <= 1e-5


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([(0, 0)], "of L0H0, L0H1 only L0H0 was named"),
        ([(0, 0), (0, 1)], "every layer must lose as many groups; what was named leaves between 1 and 2 of 2"),
        ([(layer, head) for layer in range(3) for head in range(4)], "must leave some of the 2 groups"),
        ([], "must leave some of the 2 groups"),
    ],
)
def test_what_cannot_be_pruned_is_said(heads, message):
    with pytest.raises(UsageError, match=message):
        prune_weights(tiny.model(), heads)
