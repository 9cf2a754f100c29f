"""Effects to first order in both directions of a contrast, against the gradient of gates."""

import numpy as np
import pytest
import torch

from headatlas.model import memory
from headatlas.model.heads import HeadModel
from headatlas.run.interventions import gate_gradient
from headatlas.run.pairs import both_ways, one_way
from headatlas.run.quantity import plan_quantity
from tests.run.test_quantity import context, twin_suite

KINDS = ("llama-grouped", "gpt2", "bloom", "gemma2", "falcon", "mixtral", "opt")


def contrasts(folder, kind="llama-grouped"):
    """The model, and for each of several batches: a prefix of it, both quantities, and the batches of both."""
    quantity = plan_quantity(context(folder, twin_suite(longer=4), kind), "Colours", ("choose",))
    mirror, model = quantity.mirrored(), quantity.context.model
    pairs = zip(quantity.batches(60, paired=True), mirror.batches(60, paired=True), strict=True)
    found = []
    for batch, mirrored in pairs:
        prefix = quantity.prefix(batch) if model.sharing.prefix else 0
        found.append((model.record_prefix(batch.ids[:, :prefix]), (quantity, batch), (mirror, mirrored)))
    assert len(found) > 1
    return model, found


def by_gates(model, quantity, batch, past):
    replaced = quantity.replacement(batch, past)
    return gate_gradient(model, batch.after(past.prefix), replaced.values, replaced.where, past)


@pytest.mark.parametrize("kind", KINDS)
def test_both_directions_are_gradients_of_gates_and_each_has_the_bits_that_it_has_alone(tmp_path, kind):
    (model, found), seen = contrasts(tmp_path, kind), 0.0
    for past, *parts in found:
        sides = [quantity.side(batch, past.prefix) for quantity, batch in parts]
        together = both_ways(model, *sides, past)
        for side, (quantity, batch), effects in zip(sides, parts, together, strict=True):
            assert effects.tobytes() == one_way(model, side, past).tobytes()
            expected = by_gates(model, quantity, batch, past)
            largest = np.abs(expected).max()
            np.testing.assert_allclose(effects, expected, rtol=1e-5, atol=1e-5 * largest)
            seen = max(seen, largest)
    assert seen > 1e-3


def test_the_mirrored_batches_are_what_the_sides_have_beside_them(tmp_path):
    _, found = contrasts(tmp_path)
    for past, (quantity, batch), (mirror, mirrored) in found:
        assert batch.members == mirrored.members and mirror.prefix(mirrored) == quantity.prefix(batch)
        side, back = quantity.side(batch, past.prefix), mirror.side(mirrored, past.prefix)
        assert torch.equal(side.others, back.batch.ids) and torch.equal(back.others, side.batch.ids)
    assert any(past.prefix for past, *_ in found)
    assert any(batch.ids.shape != mirrored.ids.shape for _, (_, batch), (_, mirrored) in found)


@pytest.fixture
def counted(monkeypatch):
    """Counts calls of the model and of autograd."""
    counts, logits, grad = {"forwards": 0, "backwards": 0}, HeadModel.logits, torch.autograd.grad

    def count(name, call):
        def counting(*args, **kwargs):
            counts[name] += 1
            return call(*args, **kwargs)

        return counting

    monkeypatch.setattr(HeadModel, "logits", count("forwards", logits))
    monkeypatch.setattr(torch.autograd, "grad", count("backwards", grad))
    return counts


def test_each_text_runs_forward_and_backward_once(tmp_path, counted):
    model, found = contrasts(tmp_path)
    past, *parts = found[0]
    sides = [quantity.side(batch, past.prefix) for quantity, batch in parts]
    counted.update(forwards=0, backwards=0)
    both_ways(model, *sides, past)
    assert counted == {"forwards": 2, "backwards": 2}
    counted.update(forwards=0, backwards=0)
    one_way(model, sides[0], past)
    assert counted == {"forwards": 2, "backwards": 1}


@pytest.mark.parametrize("kind", ["llama-grouped", "gpt2", "gemma2"])
def test_where_memory_is_short_layers_are_computed_again_and_no_number_changes(tmp_path, monkeypatch, kind):
    model, found = contrasts(tmp_path, kind)
    for past, *parts in found:
        sides = [quantity.side(batch, past.prefix) for quantity, batch in parts]
        plain = both_ways(model, *sides, past)
        with monkeypatch.context() as patch:
            patch.setattr(memory, "free_memory", lambda device: 1000)
            less = both_ways(model, *sides, past)
            alone = one_way(model, sides[1], past)
        np.testing.assert_allclose(less, plain, atol=1e-6, rtol=1e-5)
        assert less[1].tobytes() == alone.tobytes()


def test_the_other_text_alone_leaves_nothing_for_a_backward(tmp_path, monkeypatch):
    model, found = contrasts(tmp_path)
    past, (quantity, batch), _ = found[0]
    side, held, after, logits = quantity.side(batch, past.prefix), [], [], HeadModel.logits

    def noted(self, ids):
        out = logits(self, ids)
        after.append(len(held))
        return out

    monkeypatch.setattr(HeadModel, "logits", noted)
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: held.append(0) or tensor, lambda tensor: tensor):
        one_way(model, side, past)
        of_text = len(held)
    first, second = after
    assert first > 10 and second == of_text
