"""Heads removed one at a time, several in one forward, against one whole forward for each."""

import numpy as np
import pytest
import torch

from headatlas.methods.effects import single_heads
from headatlas.model.heads import HeadModel
from headatlas.run import interventions
from headatlas.run.ablation import ablate_each, starting_together
from headatlas.run.baselines import Baselines
from tests import tiny
from tests.run.contexts import run_context
from tests.run.reference import encoded

KINDS = ("llama-grouped", "gpt2", "bloom", "falcon-grouped", "gemma2", "qwen3_moe")


@torch.inference_mode()
def plain_ablation(model, batch, heads, baseline):
    """The reference: for every head a full forward of the same rows, with a gate and nothing shared."""
    intact, _ = batch.score(model)
    columns = []
    for layer, head in heads:
        gates = torch.ones(model.shape)
        gates[layer, head] = 0
        with model.gate(gates, baseline):
            columns.append(intact - batch.score(model)[0])
    return torch.stack(columns, 1).numpy()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("baseline", ["zero", "mean", "resample"])
def test_batched_ablation_gives_the_effects_of_the_plain_way(tmp_path, kind, baseline, monkeypatch):
    context = run_context(tmp_path, tiny.model(kind))
    batch = context.batches("Colours", "choose")[0]
    replacement = Baselines(baseline, context).for_batch("Colours", batch)
    expected = plain_ablation(context.model, batch, context.heads, replacement)
    assert np.abs(expected).max() > 0.01, "heads must matter, or the comparison would be empty"
    for room in (1, 3):
        monkeypatch.setattr(interventions, "FORWARD_TOKENS", room * batch.ids.numel())
        effects = ablate_each(context.model, batch, single_heads(context.heads), replacement)
        np.testing.assert_allclose(effects, expected, atol=1e-5)


def test_the_sign_says_that_a_removed_helper_costs_the_answer(tmp_path):
    """Plant a head that writes the answer's direction at every position, and one that writes against it."""
    model = tiny.model("llama")
    (answer,) = encoded(" red")
    direction = model.module.get_output_embeddings().weight[answer].detach()
    with torch.no_grad():
        model.out_weight(2)[0] = 0.5 * torch.outer(torch.ones(model.head_dim), direction)
        model.out_weight(2)[1] = -0.5 * torch.outer(torch.ones(model.head_dim), direction)
        # A constant z for both: the value of every token is the same vector.
        values = model.layers[2].self_attn.v_proj
        values.weight.zero_()
        values.bias = torch.nn.Parameter(torch.ones(values.out_features), requires_grad=False)
    context = run_context(tmp_path, model)
    batch = context.batches("Colours", "fit")[0]
    red = batch.rows[batch.targets == answer].numpy()
    assert red.size
    effects = ablate_each(model, batch, [(2, (0,)), (2, (1,))], None)[red]
    assert (effects[:, 0] > 0.1).all()
    assert (effects[:, 1] < -0.1).all()


def test_heads_of_neighbouring_layers_start_together_only_where_forwards_would_be_small():
    units = [(layer, (head,)) for layer in range(6) for head in range(2)]
    few = starting_together(units, tokens=40)
    assert few == [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11]], "four layers at most"
    many = starting_together(units, tokens=400)
    assert many == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11]]
    mixed = starting_together([(3, (1,)), (0, (2,)), (1, (0, 1)), (0, (1,))], tokens=150)
    assert mixed == [[1, 3, 2], [0]], "three of 150 tokens keep a processor busy"


def test_only_the_layers_at_which_forwards_start_are_held(tmp_path, monkeypatch):
    context, held = run_context(tmp_path), []
    batch = context.batches("Colours", "fit")[0]
    assert context.model.sharing.layers  # tried once, with all layers
    start_at = HeadModel.start_at

    def note(self, layer, inputs, *args):
        held.append(sorted(inputs.hidden))
        return start_at(self, layer, inputs, *args)

    monkeypatch.setattr(HeadModel, "start_at", note)
    units = [(1, (head,)) for head in range(4)] * 4 + [(2, (0,))]
    ablate_each(context.model, batch, units, None)
    assert held and all(layers == [1, 2] for layers in held)
