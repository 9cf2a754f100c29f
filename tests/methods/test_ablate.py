"""Ablation as a method: which heads, which splits, which draws. Its numbers are tested with the interventions."""

import numpy as np
import pytest
import torch

from headatlas.errors import HeadAtlasError
from headatlas.methods.ablate import Ablate
from headatlas.methods.attribute import Attribute
from headatlas.run.baselines import Baselines
from tests import tiny
from tests.run.contexts import run_context
from tests.run.test_interventions import plain_ablation


def test_a_dead_head_has_no_effect(tmp_path):
    model = tiny.model()
    with torch.no_grad():
        model.out_weight(1)[2] = 0
    maps = Ablate(baseline="zero").measure(run_context(tmp_path, model)).maps
    assert len(maps) == 2
    for head_map in maps:
        assert abs(head_map.summary.mean[head_map.heads.index((1, 2))]) < 1e-6
        assert head_map.summary.mean[head_map.heads.index((1, 1))] != 0


def test_only_the_nominated_share_and_as_many_others_are_ablated(tmp_path):
    context = run_context(tmp_path)
    method = Ablate(share=0.25)
    nominated = method.nominate(context)
    for task, effects in Attribute().effects(context).items():
        strongest = {context.heads[i] for i in np.argsort(-np.abs(effects.mean(0)))[:3]}
        assert strongest < set(nominated[task])
        assert len(nominated[task]) == 6
        assert nominated[task] == sorted(nominated[task])
    assert [head_map.heads for head_map in method.measure(context).maps] == [
        tuple(heads) for heads in nominated.values()
    ]


def test_effects_come_from_choose_and_baselines_from_fit(tmp_path):
    context = run_context(tmp_path)
    head_map = Ablate().measure(context).maps[0]
    means = Baselines("mean", context)  # of `fit`, see the tests of baselines
    batches = context.batches("Colours", "choose")
    expected = np.concatenate(
        [plain_ablation(context.model, b, context.heads, means.for_batch("Colours", b)) for b in batches]
    )
    assert len(expected) == len(context.examples("Colours", "choose"))
    np.testing.assert_allclose(head_map.summary.mean, expected.mean(0), atol=1e-6)
    assert head_map.summary.groups == len(set(context.groups("Colours", "choose")))


def test_resampling_repeats_with_its_seed_and_averages_its_draws(tmp_path):
    method, context = Ablate(baseline="resample", seeds=2), run_context(tmp_path)
    heads = method.nominate(context)
    first, second = (method.effects(context, heads, seed)["Colours"] for seed in (0, 1))
    assert np.abs(first - second).max() > 1e-3
    head_map = method.measure(context).maps[0]
    np.testing.assert_allclose(head_map.summary.mean, ((first + second) / 2).mean(0))
    assert head_map.summary.groups == len(set(context.groups("Colours", "choose")))
    again = Ablate(baseline="resample", seeds=2).measure(run_context(tmp_path / "other")).maps[0]
    np.testing.assert_array_equal(head_map.summary.mean, again.summary.mean)  # the same calls: the same bits


def test_settings_that_mean_nothing_are_refused():
    with pytest.raises(HeadAtlasError, match="A share of 0 of the heads"):
        Ablate(share=0)
    with pytest.raises(HeadAtlasError, match=r"Unknown baseline 'men'. Did you mean 'mean'\?"):
        Ablate(baseline="men")
