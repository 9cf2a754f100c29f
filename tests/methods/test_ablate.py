"""Certified ablation as a method: what is measured, on which examples, and what it says of its own certificate."""

import numpy as np
import pytest
import torch

from headatlas.errors import HeadAtlasError
from headatlas.methods.ablate import ALL, Ablate
from headatlas.methods.attribute import Attribute
from headatlas.methods.effects import exact_effects, single_heads
from headatlas.planted import PLANTED
from headatlas.run.baselines import Baselines
from headatlas.run.quantity import plan_quantity
from headatlas.stats import summarise
from headatlas.suites.suite import MAPPED
from tests import tiny
from tests.run.contexts import run_context
from tests.run.test_ablation import plain_ablation
from tests.run.test_quantity import twin_suite

PLAIN = {"metric": "logprob", "baseline": "mean", "exact": ALL}


def maps_of(method, context, measure="needed"):
    return {m.task: m for m in method.measure(context).maps if m.measure == measure}


def test_a_dead_head_has_no_effect(tmp_path):
    model = tiny.model()
    with torch.no_grad():
        model.out_weight(1)[2] = 0
    for exact in (ALL, 6):
        for head_map in maps_of(Ablate(baseline="zero", exact=exact), run_context(tmp_path, model)).values():
            assert abs(head_map.summary.mean[head_map.heads.index((1, 2))]) < 1e-5
            assert abs(head_map.summary.mean[head_map.heads.index((1, 1))]) > 1e-4


def test_everything_exact_is_the_plain_ablation_of_fit_and_choose_with_means_of_fit(tmp_path):
    context = run_context(tmp_path)
    head_map = maps_of(Ablate(**PLAIN), context)["Colours"]
    means = Baselines("mean", context)  # of `fit`, see the tests of baselines
    batches = [batch for split in MAPPED for batch in context.batches("Colours", split)]
    expected = np.concatenate(
        [plain_ablation(context.model, b, context.heads, means.for_batch("Colours", b)) for b in batches]
    )
    assert len(expected) == sum(len(context.examples("Colours", split)) for split in MAPPED)
    np.testing.assert_allclose(head_map.summary.mean, expected.mean(0), atol=1e-6)
    assert head_map.summary.groups == len({group for split in MAPPED for group in context.groups("Colours", split)})


def test_every_head_has_an_interval_from_exact_measurements(tmp_path):
    context = run_context(tmp_path, suite=twin_suite(72))
    measured = Ablate(exact=6).measure(context)
    for head_map in measured.maps:
        assert head_map.heads == context.heads
        assert np.isfinite(head_map.summary.low).all() and np.isfinite(head_map.summary.p_value).all()
    numbers = {(entry.metric, entry.task): entry.value for entry in measured.diagnostics}
    for task in context.tasks:
        assert numbers["examples attributed", task] == sum(len(context.examples(task, split)) for split in MAPPED)
        assert 2 <= numbers["examples exact", task] <= 6
        assert numbers["heads exact on all", task] <= 2, "at most 15 % of twelve heads"
        assert 0 <= numbers["half overlap", task] <= 1
        assert numbers["examples left out", task] == 0
        assert 0 <= numbers["same sign, 30 largest", task] <= 1


@pytest.mark.slow
def test_the_certified_map_agrees_with_everything_exact_within_its_intervals(tmp_path):
    context = run_context(tmp_path, suite=twin_suite(96))
    quantity = plan_quantity(context, "Colours")
    truth = exact_effects("", {"Colours": quantity}, {"Colours": single_heads(context.heads)})["Colours"].mean(0)
    inside = []
    for seed in range(12):
        summary = maps_of(Ablate(exact=8, seed=seed), context)["Colours"].summary
        inside.append((summary.low <= truth) & (truth <= summary.high))
    assert np.mean(inside) > 0.9


def test_where_attention_is_saturated_attribution_has_the_wrong_sign_and_the_certificate_does_not(tmp_path):
    """A model made by hand: what its most important head does hangs on a cliff that its gradient does not see."""
    planted = PLANTED["saturated"]
    context = run_context(tmp_path, planted.build(), planted.suite(0))
    (task,) = context.tasks
    effects = planted.truth().effects(task)  # by editing weights, without any of our code
    wrong = []
    attributed = {m.measure: m for m in Attribute().measure(context).maps}["needed"].summary
    certified = maps_of(Ablate(exact=6, enough=False), context)[task].summary
    for head, role in planted.roles[task].items():
        number = context.heads.index(head)
        assert role == "helps" and effects[head] > 0
        assert certified.low[number] > 0 and certified.p_value[number] < 0.01
        wrong += [head] if attributed.mean[number] < 0 else []
    assert wrong, "attribution has the wrong sign for one of them"


def test_shares_compare_tasks_and_specific_is_the_share_beyond_the_others(tmp_path):
    context = run_context(tmp_path, suite=twin_suite(72))
    method = Ablate(exact=6)
    needed, share, specific = (maps_of(method, context, m) for m in ("needed", "share", "specific"))
    for task in context.tasks:
        effects = needed[task].summary.mean
        np.testing.assert_allclose(share[task].summary.mean, effects / effects[effects > 0].sum(), rtol=1e-9)
    colours, numbers = (share[task].summary for task in ("Colours", "Numbers"))
    np.testing.assert_allclose(specific["Colours"].summary.mean, colours.mean - numbers.mean, atol=1e-12)
    np.testing.assert_allclose(specific["Colours"].summary.stderr, np.hypot(colours.stderr, numbers.stderr))


def test_the_planted_helpers_are_specific_for_their_task(tmp_path):
    context = run_context(tmp_path, tiny.planted(), tiny.copying(48))
    specific = maps_of(Ablate(exact=6), context, "specific")
    for task, helper in tiny.HELPERS.items():
        summary = specific[task].summary
        assert context.heads[int(np.argmax(summary.mean))] == helper
        assert summary.low[context.heads.index(helper)] > 0


def test_one_task_has_no_others_to_compare_with(tmp_path):
    context = run_context(tmp_path, suite=twin_suite(36).only(["Colours"]))
    assert {m.measure for m in Ablate(exact=6).measure(context).maps} == {"needed", "kv_needed", "enough", "share"}


def test_heads_that_share_keys_and_values_are_also_replaced_together(tmp_path):
    context = run_context(tmp_path, suite=twin_suite(36))  # two heads to a group
    head_map = maps_of(Ablate(exact=ALL), context, "kv_needed")["Colours"]
    quantity = plan_quantity(context, "Colours")
    model, effects = context.model, []
    for batch in quantity.batches(512):
        replaced = quantity.replacement(batch)
        gates = torch.ones(model.shape)
        gates[1, 2:] = 0
        with torch.no_grad():
            intact = batch.quantity(batch.score(model)[0])
            with model.gate(gates, replaced.values, replaced.where):
                effects += (intact - batch.quantity(batch.score(model)[0])).tolist()
    for head in ((1, 2), (1, 3)):
        assert head_map.summary.mean[context.heads.index(head)] == pytest.approx(np.mean(effects), abs=1e-5)
    alone = run_context(tmp_path, tiny.model("llama"), twin_suite(36))
    assert not maps_of(Ablate(exact=6), alone, "kv_needed"), "every head has keys and values of its own"


def test_enough_is_what_the_twin_gains_with_the_head_of_the_prompt(tmp_path):
    context = run_context(tmp_path, suite=twin_suite(72))
    everything = maps_of(Ablate(exact=ALL), context, "enough")["Colours"].summary
    mirrored = plan_quantity(context, "Colours").mirrored()
    effects = exact_effects("", {"Colours": mirrored}, {"Colours": single_heads(context.heads)})["Colours"]
    np.testing.assert_allclose(everything.mean, -effects.mean(0), atol=1e-9)
    assert (everything.low <= everything.mean).all() and (everything.mean <= everything.high).all()
    certified = maps_of(Ablate(exact=6), context, "enough")["Colours"].summary
    assert np.corrcoef(certified.mean, everything.mean)[0, 1] > 0.9
    assert not maps_of(Ablate(exact=6, enough=False), context, "enough")


def test_settings_that_mean_nothing_are_refused():
    with pytest.raises(HeadAtlasError, match=r"thorough = 2.0 was asked for; give a share of the heads, from 0 to 0.2"):
        Ablate(thorough=2.0)
    with pytest.raises(HeadAtlasError, match="exact = 2 was asked for; an error needs at least 4 exact examples"):
        Ablate(exact=2)
    with pytest.raises(HeadAtlasError, match=r"Unknown baseline 'men'. Did you mean 'mean'\?"):
        Ablate(baseline="men")
    with pytest.raises(HeadAtlasError, match=r"Unknown metric 'margins'. Did you mean 'margin'\?"):
        Ablate(metric="margins")


def test_the_plain_summary_is_that_of_the_effects(tmp_path):
    context = run_context(tmp_path)
    quantity = plan_quantity(context, "Colours", metric="logprob", baseline="zero")
    effects = exact_effects("", {"Colours": quantity}, {"Colours": single_heads(context.heads)})["Colours"]
    summary = maps_of(Ablate(metric="logprob", baseline="zero", exact=ALL), context)["Colours"].summary
    expected = summarise(effects, quantity.groups)
    np.testing.assert_array_equal(summary.mean, expected.mean)
    np.testing.assert_array_equal(summary.low, expected.low)
