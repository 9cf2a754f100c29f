"""Heads removed, against plain forwards with hooks of their own."""

import numpy as np
import pytest
import torch

from headatlas.microscope.removal import remove_heads
from headatlas.planted import PLANTED
from tests.microscope import scenes
from tests.run.contexts import run_context

HEADS = [(0, 1), (0, 4), (2, 3)]


def zeroed(model, heads):
    """Hooks that put zero in the place of heads: [layer, head] pairs."""

    def hook_for(layer):
        def hook(_, args):
            z = args[0].clone()
            for _, head in (pair for pair in heads if pair[0] == layer):
                z[..., head * model.head_dim : (head + 1) * model.head_dim] = 0
            return (z,)

        return hook

    return [model.out_projections[layer].register_forward_pre_hook(hook_for(layer)) for layer in range(model.n_layers)]


def margins(model, items, hooks=()):
    """Log p of the answer less that of all distractors, item by item."""
    values = []
    for item in items:
        start = item.options[0].start
        with torch.no_grad():
            logits = model.module(torch.tensor([item.options[0].tokens[:start]])).logits[0, -1].log_softmax(-1)
        answer, *others = [logits[option.tokens[start]] for option in item.options]
        values.append(float(answer - torch.stack(others).logsumexp(0)))
    for hook in hooks:
        hook.remove()
    return values


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    planted = PLANTED["backup"]
    context = run_context(tmp_path_factory.mktemp("removal"), planted.build(), planted.suite(0))
    view = scenes.view(context, "Pick", HEADS[:2], HEADS, examples=9, baseline="zero")
    return view, remove_heads([view])[0]


def test_margins_with_and_without_heads_are_those_of_plain_forwards(scene):
    view, removal = scene
    model, items = view.quantity.context.model, view.quantity.items
    np.testing.assert_allclose(removal.intact, margins(model, items), atol=1e-4)
    for heads in ([HEADS[0]], [HEADS[2]], HEADS[:2], [HEADS[0], HEADS[2]]):
        expected = margins(model, items, zeroed(model, heads))
        np.testing.assert_allclose(removal.without[frozenset(heads)], expected, atol=1e-4)


def test_held_means_that_no_other_head_reacts(scene):
    """What the heads write in the intact model is put back by hand."""
    view, removal = scene
    model, item = view.quantity.context.model, view.quantity.items[0]
    ids, head = torch.tensor([item.options[0].tokens[: item.options[0].start]]), (0, 4)
    with torch.no_grad(), model.capture() as z:
        model.logits(ids)

    def hook_for(layer):
        def hook(_, args):
            kept = z[layer].clone()
            if layer == head[0]:
                kept[:, :, head[1]] = 0
            return (kept.flatten(-2),)

        return hook

    hooks = [model.out_projections[i].register_forward_pre_hook(hook_for(i)) for i in range(model.n_layers)]
    assert removal.held[head][0] == pytest.approx(margins(model, [item], hooks)[0], abs=1e-4)


def test_the_graph_is_measured_once_whatever_is_asked_for(scene):
    view, removal = scene
    assert view.strongest == (HEADS[0], HEADS[1]) and view.others == (HEADS[2],)
    runner = view.quantity.context.runner
    before = set(runner.computed)
    context = view.quantity.context
    alone = scenes.view(context, "Pick", HEADS[:2], HEADS[:1], examples=9, baseline="zero")
    again = remove_heads([alone])[0]
    assert runner.computed == before
    assert set(again.without) == {frozenset(s) for s in ({HEADS[0]}, {HEADS[1]}, {HEADS[0], HEADS[1]})}
    np.testing.assert_array_equal(again.effect(HEADS[0]), removal.effect(HEADS[0]))
