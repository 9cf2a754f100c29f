"""Examples that begin alike: which they are, and that running their beginning once changes no number."""

import numpy as np
import pytest
import torch

from headatlas.methods.effects import exact_effects, single_heads
from headatlas.run import beginnings, interventions
from headatlas.run.ablation import ablate_each, ablation_forwards
from headatlas.run.batches import make_batches
from headatlas.run.beginnings import by_beginning, common_beginning
from headatlas.run.encoding import Option
from headatlas.run.quantity import plan_quantity
from headatlas.suites.suite import Suite
from tests import tiny
from tests.run.contexts import run_context
from tests.run.test_ablation import plain_ablation

KINDS = ("llama-grouped", "gpt2", "bloom", "mistral", "gemma2", "qwen3_moe", "opt", "falcon-grouped")
HEADER = tuple(range(20, 36))


def batch_after(header, endings):
    """One-token answers to prompts that begin alike."""
    (batch,) = make_batches([[Option((*header, *ending), len(header) + len(ending) - 1)] for ending in endings])
    return batch


ENDINGS = [(1, 2, 3, 9), (4, 5, 6, 7, 8, 9), (1, 7, 9), (2, 2, 2, 2, 3), (5, 6, 1, 9), (8, 1, 2)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("baseline", ["zero", "mean"])
def test_a_beginning_that_is_run_once_gives_the_effects_of_the_plain_way(kind, baseline, monkeypatch):
    model, batch = tiny.model(kind), batch_after(HEADER, ENDINGS)
    assert common_beginning(batch) == len(HEADER)
    heads = [(layer, head) for layer in range(model.n_layers) for head in range(model.n_heads)]
    mean = torch.randn(*model.shape, model.head_dim, generator=torch.Generator().manual_seed(0))
    replacement = None if baseline == "zero" else mean
    expected = plain_ablation(model, batch, heads, replacement)
    assert np.abs(expected).max() > 0.01
    assert model.sharing.prefix  # found out by forwards of its own, which are not counted below
    rest = batch.after(len(HEADER)).ids.numel()
    for room in (1, 3):
        monkeypatch.setattr(interventions, "FORWARD_TOKENS", room * rest)
        fed, plain = [], model.logits
        with monkeypatch.context() as patch:
            patch.setattr(model, "logits", lambda ids, fed=fed, plain=plain: fed.append(ids.numel()) or plain(ids))
            effects = ablate_each(model, batch, single_heads(heads), replacement)
        np.testing.assert_allclose(effects, expected, atol=1e-5)
        assert len(fed) == ablation_forwards(single_heads(heads), rest, shared=True)
        assert sum(fed) == (len(HEADER) + rest) * (1 + len(heads))


def test_sharing_stops_before_what_is_scored():
    """Prompts that are the same with other answers: the logits of their last token are still needed."""
    batch = batch_after((), [(*HEADER, 1), (*HEADER, 2)] * 3)
    assert common_beginning(batch) == len(HEADER) - 1


def test_little_in_common_is_not_shared():
    assert common_beginning(batch_after(HEADER, ENDINGS[:2])) == 0
    assert common_beginning(batch_after((), [(i, 1, 2, 3) for i in range(30)])) == 0


def with_headers() -> Suite:
    """The small suite after two long passages."""
    passages = ("one two three four five red blue green " * 3, "the sum of the key and the box is three " * 3)
    examples = enumerate(tiny.suite().examples)
    return Suite("headed", tuple(e.model_copy(update={"prompt": passages[i % 2] + e.prompt}) for i, e in examples))


@pytest.mark.parametrize("baseline", ["zero", "mean", "resample"])
def test_examples_of_a_task_share_their_beginnings_and_keep_their_effects(tmp_path, baseline):
    context = run_context(tmp_path, suite=with_headers())
    quantity = plan_quantity(context, "Colours", metric="margin", baseline=baseline)
    batches = quantity.batches(192, 60, by_start=True)
    assert sorted(i for batch in batches for i in batch.members) == [*range(len(quantity.items))]
    if baseline == "resample":  # does something else to each text
        assert [batch.key for batch in batches] == [batch.key for batch in quantity.batches(192, 60)]
    else:
        assert sum(batch.size for batch in batches if common_beginning(batch) >= 20) > 0.7 * len(quantity.items)
    units = single_heads(context.heads)[::3]
    effects = exact_effects("", {"Colours": quantity}, {"Colours": units})["Colours"]
    for i in range(0, len(quantity.items), 5):
        alone = quantity.only([i])
        (batch,) = alone.batches(1)
        replaced = alone.replacement(batch)
        expected = plain_margins(context.model, batch, units, replaced.values)
        np.testing.assert_allclose(effects[i], expected, atol=1e-5)


@torch.inference_mode()
def plain_margins(model, batch, units, baseline):
    """What the margin of a single example loses without each unit, nothing shared."""
    intact = batch.quantity(batch.score(model)[0])
    losses = []
    for layer, heads in units:
        gates = torch.ones(model.shape)
        gates[layer, list(heads)] = 0
        with model.gate(gates, baseline):
            losses.append(float(intact - batch.quantity(batch.score(model)[0])))
    return losses


# Which examples begin alike


def test_texts_come_together_by_the_beginning_that_saves_most(monkeypatch):
    monkeypatch.setattr(beginnings, "WORTHWHILE", 8)
    header, first, second = (1,) * 4, (2,) * 20, (3,) * 20
    passages = [(*header, *(first if i % 2 else second), i) for i in range(8)]
    assert by_beginning(passages) == [([1, 3, 5, 7], 24), ([0, 2, 4, 6], 24)]
    assert by_beginning([(*header * 5, *first[:i]) for i in range(5)]) == [([0, 1, 2, 3, 4], 20)]
    assert by_beginning([*passages, (9, 9, 9), (1, 9)])[-1] == ([8, 9], 0)


def test_texts_that_share_nothing_stay_together():
    assert by_beginning([(i, 5, 5) for i in range(4)]) == [([0, 1, 2, 3], 0)]
    assert by_beginning([]) == []
