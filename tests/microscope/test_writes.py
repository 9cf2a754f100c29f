"""Direct effects on a small Llama, against its norm and its unembedding applied by hand."""

import numpy as np
import pytest
import torch

from headatlas.microscope.writes import NOT_ADDED, NOT_HANDED_OVER, direct_effects, why_not_direct
from headatlas.model.sharing import Sharing
from headatlas.suites.example import Example, Twin
from headatlas.suites.suite import Suite
from tests import tiny
from tests.microscope import scenes
from tests.run.contexts import run_context

HEADS = [(0, 2), (2, 1)]


def twinned() -> Suite:
    words = ("red", "blue", "green", "one", "sky", "rain", "four", "five")
    examples = []
    for i in range(24):
        word, other = words[i % 8], words[(i + 1) % 8]
        twin = Twin(prompt=f"the {other} box {i // 8} is", answer=f" {other}")
        examples.append(
            Example(
                id=f"t{i}", task="Copy", group=f"g{i}", prompt=f"the {word} box {i // 8} is", answer=f" {word}",
                counterfactual=twin,
            )
        )  # fmt: skip
    return Suite("twinned", tuple(examples))


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    context = run_context(tmp_path_factory.mktemp("writes"), tiny.model(), twinned())
    view = scenes.view(context, "Copy", HEADS, baseline="twin")
    return view, direct_effects([view])[0]


def by_hand(model, item, number, head):
    """Logits [token of the option, vocabulary] with what a head writes there, and with what it writes on the twin."""
    (layer, h), option = head, item.options[number]
    twin = (*item.twin, *option.tokens[option.start : -1])
    with torch.no_grad(), model.capture() as z, model.record_inputs(layers=[model.n_layers]) as inputs:
        model.logits(torch.tensor([option.tokens[:-1]]))
    with torch.no_grad(), model.capture() as other:
        model.logits(torch.tensor([twin]))
    last = len(option.tokens) - option.start
    here, there = (values[layer][0, -last:, h] @ model.out_weight(layer)[h] for values in (z, other))
    hidden, inner = inputs.hidden[model.n_layers][0, -last:], model.module.model
    with torch.no_grad():
        return [model.module.lm_head(inner.norm(hidden - change)) for change in (0, here - there)]


def logprob(logits, option):
    return float(sum(row.log_softmax(-1)[t] for row, t in zip(logits, option.tokens[option.start :], strict=True)))


@pytest.mark.parametrize("head", HEADS)
def test_direct_effects_are_those_of_norm_and_unembedding(scene, head):
    view, writing = scene
    assert any(len(item.options[0].tokens) - item.options[0].start > 1 for item in view.quantity.items)
    for i, item in enumerate(view.quantity.items):
        scores = []
        for number, option in enumerate(item.options):
            intact, changed = by_hand(view.quantity.context.model, item, number, head)
            scores.append((logprob(intact, option), logprob(changed, option)))
        expected = (scores[0][0] - scores[1][0]) - (scores[0][1] - scores[1][1])
        assert writing.effects[i, HEADS.index(head)] == pytest.approx(expected, abs=1e-5)


def test_promoted_tokens_are_those_whose_logits_fall_with_the_head_of_the_twin(scene):
    view, writing = scene
    for i, item in enumerate(view.quantity.items[:3]):
        intact, without = by_hand(view.quantity.context.model, item, 0, HEADS[1])
        gained = (intact - without)[0]
        gained = (gained - gained.mean()).numpy()[: len(tiny.tokenizer())]
        np.testing.assert_allclose(writing.raised[i, 1], np.sort(gained)[::-1][:8], atol=1e-5)
        np.testing.assert_allclose(writing.lowered[i, 1], np.sort(gained)[:8], atol=1e-5)
        np.testing.assert_allclose(gained[writing.tokens[i, 1]], writing.raised[i, 1], atol=1e-5)
        np.testing.assert_allclose(gained[writing.suppressed[i, 1]], writing.lowered[i, 1], atol=1e-5)


def test_nothing_is_said_where_writes_do_not_arrive_as_they_are():
    assert why_not_direct(tiny.model()) is None
    assert why_not_direct(tiny.model("gemma2")) == NOT_ADDED
    stateful = tiny.model()
    stateful.sharing = Sharing(False, False, False, False)
    assert why_not_direct(stateful) == NOT_HANDED_OVER
