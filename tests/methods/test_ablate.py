"""Ablation against the plain way: one hooked forward for each head."""

import numpy as np
import pytest
import torch

from headatlas.errors import HeadAtlasError
from headatlas.methods import ablate
from headatlas.methods.ablate import Ablate, ablate_batch
from headatlas.methods.attribute import Attribute
from headatlas.run.baselines import Baselines
from tests import tiny
from tests.methods.common import work

KINDS = ("llama-grouped", "gpt2", "bloom", "falcon-grouped", "gemma2", "qwen3_moe")


@torch.inference_mode()
def plain(model, batch, heads, baseline):
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
    job = work(tmp_path, tiny.model(kind))
    batch = job.batches("Colours", "choose")[0]
    replacement = Baselines(baseline, job).of("Colours", batch)
    expected = plain(job.model, batch, job.heads, replacement)
    assert np.abs(expected).max() > 0.01, "heads must matter, or the comparison would be empty"
    monkeypatch.setattr(ablate, "FORWARD_TOKENS", 1)
    one_by_one = ablate_batch(job.model, batch, job.heads, replacement)["effects"]
    np.testing.assert_allclose(one_by_one, expected, atol=1e-5)
    monkeypatch.setattr(ablate, "FORWARD_TOKENS", 3 * batch.ids.numel())
    three_by_three = ablate_batch(job.model, batch, job.heads, replacement)["effects"]
    np.testing.assert_allclose(three_by_three, expected, atol=1e-5)


def test_the_sign_says_that_a_removed_helper_costs_the_answer(tmp_path):
    """Plant a head that writes the answer's direction at every position, and one that writes against it."""
    model = tiny.model("llama")
    answer = tiny.tokenizer()(" red")["input_ids"][0]
    direction = model.module.get_output_embeddings().weight[answer].detach()
    with torch.no_grad():
        model.out_weight(2)[0] = 0.5 * torch.outer(torch.ones(model.head_dim), direction)
        model.out_weight(2)[1] = -0.5 * torch.outer(torch.ones(model.head_dim), direction)
        # A constant z for both: the value of every token is the same vector.
        values = model.layers[2].self_attn.v_proj
        values.weight.zero_()
        values.bias = torch.nn.Parameter(torch.ones(values.out_features), requires_grad=False)
    job = work(tmp_path, model)
    batch = job.batches("Colours", "fit")[0]
    red = batch.rows[batch.targets == answer].numpy()
    assert red.size
    effects = ablate_batch(model, batch, [(2, 0), (2, 1)], None)["effects"][red]
    assert (effects[:, 0] > 0.1).all()
    assert (effects[:, 1] < -0.1).all()


def test_a_dead_head_has_no_effect(tmp_path):
    model = tiny.model()
    with torch.no_grad():
        model.out_weight(1)[2] = 0
    maps = Ablate(baseline="zero").measure(work(tmp_path, model)).maps
    for found in maps:
        i = found.heads.index((1, 2))
        assert abs(found.summary.mean[i]) < 1e-6
        assert found.summary.mean[found.heads.index((1, 1))] != 0


def test_only_the_nominated_share_and_as_many_others_are_ablated(tmp_path):
    job = work(tmp_path)
    method = Ablate(share=0.25)
    nominated = method.nominate(job)
    for task, effects in Attribute().effects(job).items():
        strongest = {job.heads[i] for i in np.argsort(-np.abs(effects.mean(0)))[:3]}
        assert strongest < set(nominated[task])
        assert len(nominated[task]) == 6
        assert nominated[task] == sorted(nominated[task])
    assert [found.heads for found in method.measure(job).maps] == [tuple(heads) for heads in nominated.values()]


def test_effects_come_from_choose_and_baselines_from_fit(tmp_path):
    job = work(tmp_path)
    found = Ablate().measure(job).maps[0]
    means = Baselines("mean", job)  # of `fit`, see the tests of baselines
    batches = job.batches("Colours", "choose")
    expected = np.concatenate([plain(job.model, b, job.heads, means.of("Colours", b)) for b in batches])
    assert len(expected) == len(job.examples("Colours", "choose"))
    np.testing.assert_allclose(found.summary.mean, expected.mean(0), atol=1e-6)
    assert found.summary.groups == len(set(job.groups("Colours", "choose")))


def test_resampling_repeats_with_its_seed_and_averages_its_draws(tmp_path):
    method, job = Ablate(baseline="resample", seeds=2), work(tmp_path)
    heads = method.nominate(job)
    first, second = (method._effects(job, heads, seed)["Colours"] for seed in (0, 1))
    assert not np.array_equal(first, second)
    found = method.measure(job).maps[0]
    np.testing.assert_allclose(found.summary.mean, ((first + second) / 2).mean(0))
    assert found.summary.groups == len(set(job.groups("Colours", "choose")))
    again = Ablate(baseline="resample", seeds=2).measure(work(tmp_path / "other")).maps[0]
    np.testing.assert_array_equal(found.summary.mean, again.summary.mean)


def test_settings_that_mean_nothing_are_refused():
    with pytest.raises(HeadAtlasError, match="A share of 0 of the heads"):
        Ablate(share=0)
    with pytest.raises(HeadAtlasError, match=r"Unknown baseline 'men'. Did you mean 'mean'\?"):
        Ablate(baseline="men")
