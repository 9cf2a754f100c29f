"""What forwards can share is tried on the model itself: architectures that would go wrong are not trusted."""

import types

import pytest
import torch
import transformers as hf

from headatlas.methods.effects import exact_effects
from headatlas.model.heads import HeadModel
from headatlas.model.outline import read_outline
from headatlas.model.sharing import Sharing, turns_by_length
from headatlas.run.quantity import plan_quantity
from tests import tiny
from tests.run.contexts import run_context
from tests.run.test_quantity import twin_suite


@pytest.mark.parametrize("kind", tiny.FAMILIES)
def test_every_known_family_can_share_layers_and_positions(kind):
    assert tiny.model(kind).sharing == Sharing(layers=True, prefix=True, last_layer=True, tokens=True)


def knows_no_past(model):
    """A module that takes no cache, like some that come with their own code."""
    plain = model.module.forward

    def forward(self, input_ids, use_cache=False):
        return plain(input_ids=input_ids, use_cache=use_cache)

    model.module.forward = types.MethodType(forward, model.module)
    return model


def counts_its_layers(model):
    """State that passes by the layers: what comes out is multiplied by how many of them ran."""
    ran = []

    def counting(forward):
        return lambda *args, **more: (ran.append(1), forward(*args, **more))[1]

    def scaled(_, args):
        scale = len(ran)
        ran.clear()
        return (args[0] * scale, *args[1:])

    for layer in model.layers:
        layer.forward = counting(layer.forward)
    model.module.get_output_embeddings().register_forward_pre_hook(scaled)
    return model


def test_a_module_without_a_cache_shares_no_positions(tmp_path):
    model = knows_no_past(tiny.model("llama"))
    assert model.sharing == Sharing(layers=True, prefix=False, last_layer=True, tokens=True)
    context = run_context(tmp_path, model, twin_suite())
    effects = exact_effects("", {"Colours": plan_quantity(context, "Colours", ("choose",))}, {"Colours": [(1, (2,))]})
    assert abs(effects["Colours"]).max() > 1e-3, "whole forwards are run"


def test_a_module_with_state_beside_its_layers_shares_no_layers():
    model = counts_its_layers(tiny.model("llama"))
    assert model.sharing == Sharing(layers=False, prefix=False, last_layer=True, tokens=True)


def remembers_its_first_mlp(model):
    """The last MLP adds what entered the first one when that ran last."""
    seen = {}

    def remember(_, args):
        seen["first"] = args[0]

    def add(_, args):
        return (args[0] + 0.5 * seen["first"], *args[1:])

    model.layers[0].mlp.register_forward_pre_hook(remember)
    model.layers[-1].mlp.register_forward_pre_hook(add)
    return model


def test_state_that_is_remembered_from_the_forward_before_is_noticed():
    """Tried on the same text at once, a forward that starts late finds the right state by chance."""
    assert not remembers_its_first_mlp(tiny.model("llama")).sharing.layers


def test_an_unembedding_that_is_more_than_a_matrix_shares_no_single_tokens():
    model = tiny.model("llama")
    plain = model.module.lm_head.forward
    model.module.lm_head.forward = lambda hidden: plain(hidden) + 10 * hidden.mean(-1, keepdim=True)
    assert model.sharing == Sharing(layers=True, prefix=True, last_layer=True, tokens=False)


def turning(kind):
    """A configuration whose rotary positions turn otherwise in texts of more than eight tokens."""
    rope = {"rope_type": kind, "rope_theta": 10000.0, "original_max_position_embeddings": 8, "factor": 4.0}
    if kind == "longrope":
        rope |= {"short_factor": [1.0] * 4, "long_factor": [4.0] * 4}
    sizes = {"vocab_size": 100, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "pad_token_id": 0}
    config = hf.Phi3Config(**sizes, num_attention_heads=4, max_position_embeddings=64, rope_parameters=rope)
    config.original_max_position_embeddings = 8
    return config


def test_where_positions_turn_by_the_length_of_the_text_no_positions_are_shared():
    """Eight tokens and twelve do not read their first five alike, which a trial of a few tokens cannot show."""
    torch.manual_seed(0)
    config = turning("longrope")
    module = hf.AutoModelForCausalLM.from_config(config).float().eval().requires_grad_(False)
    for weight in module.parameters():
        if weight.dim() > 1:
            weight.normal_(0, 0.15)
    model, ids = HeadModel(module, tiny.tokenizer()), torch.arange(1, 13)[None]
    short, long = model.record_prefix(ids[:, :5]), model.logits(ids)
    with model.record_inputs(short):
        assert float((model.logits(ids[:, 5:]) - long[:, 5:]).abs().max()) > 0.01
    assert model.sharing == Sharing(layers=True, prefix=False, last_layer=True, tokens=True)
    assert not read_outline(config).sharing.prefix, "as planned"


@pytest.mark.parametrize(("entries", "turns"), [
    ({"rope_type": "dynamic", "factor": 2.0}, True),
    ({"full_attention": {"rope_type": "default"}, "sliding_attention": {"rope_type": "longrope"}}, True),
    ({"rope_type": "llama3", "factor": 8.0}, False),
    (None, False),
])  # fmt: skip
def test_positions_that_turn_by_length_are_found_in_the_configuration(entries, turns):
    model = tiny.model("llama")
    model.module.config.rope_parameters = entries
    assert turns_by_length(model) is turns
