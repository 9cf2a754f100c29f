"""What forwards can share is tried on the model itself: architectures that would go wrong are not trusted."""

import types

import pytest

from headatlas.methods.effects import exact_effects
from headatlas.model.sharing import Sharing
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
