"""Bodies: modules for every thread, with weights that all of them share."""

import copy
import threading

import pytest
import torch

from tests import tiny
from tests.model.test_heads import IDS, hook_count, own_forwards


@pytest.fixture(scope="module", params=tiny.FAMILIES)
def model(request):
    model = tiny.model(request.param)
    model.bodies.provide(2)
    return model


def in_body(model, number, work):
    """What `work` gives in a thread of its own."""
    results = []

    def run():
        with model.bodies.given(number, threading.Event()), torch.no_grad():
            results.append(work())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return results[0]


def test_another_body_gives_the_same_bits_from_the_same_weights(model):
    with torch.no_grad():
        expected = model.logits(IDS)
    assert torch.equal(in_body(model, 1, lambda: model.logits(IDS)), expected)
    first, other = dict(model.module.named_parameters()), in_body(model, 1, lambda: model.module)
    assert other is not model.module
    assert all(weight is first[name] for name, weight in other.named_parameters())


@torch.no_grad()
def test_what_is_done_in_one_thread_touches_no_other(model):
    """While this thread has gates, starts late and reads less, the other one runs the plain model."""
    expected, gates = model.logits(IDS), torch.ones(model.shape)
    gates[0, 0] = 0
    with model.record_inputs() as inputs:
        model.logits(IDS)
    last, anywhere = model.n_layers - 1, torch.tensor([0])
    with model.gate(gates), model.start_at(last, inputs), model.only_logits(anywhere, anywhere):
        assert torch.equal(in_body(model, 1, lambda: model.logits(IDS)), expected)
        assert model.logits(IDS).shape[0] == 1
    other = in_body(model, 1, lambda: model.module)
    assert hook_count(other) == own_forwards(other) == 0


def test_a_model_with_several_bodies_can_be_copied():
    model = tiny.model()
    model.bodies.provide(2)
    other = copy.deepcopy(model)
    with torch.no_grad():
        other.out_projections[0].weight.zero_()
    assert model.out_projections[0].weight.any()
    assert not in_body(other, 1, lambda: other.out_projections[0].weight.any())


def test_bodies_follow_a_model_that_was_changed():
    model = tiny.model()
    model.bodies.provide(2)
    model.out_projections[0].weight = torch.nn.Parameter(torch.zeros_like(model.out_projections[0].weight))
    model.module.set_attn_implementation("eager")
    model.bodies.provide(2)
    assert not in_body(model, 1, lambda: model.out_projections[0].weight.any())
    assert in_body(model, 1, lambda: model.kernel) == "eager"


def test_forwards_end_once_they_are_to_stop():
    model, stop = tiny.model(), threading.Event()
    with model.bodies.given(0, stop):
        model.logits(IDS)
        stop.set()
        with pytest.raises(KeyboardInterrupt):
            model.logits(IDS)
    model.logits(IDS)
