"""The linear probe on features in which it is known what tells the tasks apart."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from headatlas.methods.probe import linear as probe_linear
from headatlas.methods.probe.data import Labelling, ProbeData
from headatlas.methods.probe.fits import Fits
from headatlas.methods.probe.linear import fit_linear
from headatlas.methods.probe.multinomial import Rotated, Standard, fit
from headatlas.methods.probe.report import maps
from headatlas.stats import q_values
from headatlas.suites.suite import SPLITS
from tests.methods.probe.probing import heads_of, synthetic
from tests.run.contexts import run_context

SHUFFLES = 20


def linear(folder, data: ProbeData) -> Fits:
    return fit_linear(run_context(folder), data, SHUFFLES, seeds=1)


def importance_by_hand(data: ProbeData, labelling: Labelling, penalty: float) -> np.ndarray:
    """Importance [task, head] of one regression on the used examples alone, example by example."""
    standard = Standard.of(data.features["fit"].transpose(0, 1))
    x = {split: standard(data.features[split].transpose(0, 1)).transpose(0, 1) for split in ("fit", "choose")}
    targets = torch.nn.functional.one_hot(torch.from_numpy(labelling.fit[labelling.used]), len(data.tasks)).float()
    _, heads, dim = x["fit"].shape
    used = x["fit"][torch.from_numpy(labelling.used)].flatten(1)
    weights, _ = fit(Rotated.of(used[None]), targets[None], penalty * heads * dim)
    by_head = weights[0, 0].unflatten(0, (heads, dim))  # [head, dim, task]
    rows = []
    for task in range(len(data.tasks)):
        examples = x["choose"][torch.from_numpy(labelling.choose == task)]
        rows.append(np.mean([(example * by_head[..., task]).sum(-1).numpy() for example in examples], axis=0))
    return np.stack(rows)


@pytest.mark.parametrize("seed", range(3))
def test_the_head_that_carries_a_task_is_the_most_important_one_for_it(tmp_path, seed):
    carriers = {0: 5, 1: 2, 2: 6}
    data = synthetic(carriers, seed=seed, times=2)
    head_maps = maps("probe", data, linear(tmp_path, data), heads_of(data), signed=False)
    importance = {entry.task: entry.summary for entry in head_maps if entry.measure == "information"}
    false = 0
    for task, head in carriers.items():
        summary = importance[data.tasks[task]]
        q = q_values(summary.p_value)
        assert summary.mean.argmax() == head
        assert q[head] < 0.05
        false += sum(q[i] < 0.05 for i in range(8) if i not in carriers.values())
    assert false <= 1, "of 15 heads that know nothing"


@pytest.mark.parametrize("shared", [0.0, 0.8])
def test_where_nothing_is_to_be_found_few_heads_are_called_important(tmp_path, shared):
    """Nominal: 5 % of the p-values below 5 %; tolerance 0 to 11 % of 288. Also where a group's noise is its own."""
    p_values = []
    for seed in range(8):
        data = synthetic(heads=12, seed=100 + seed, shared=shared)
        head_maps = maps("probe", data, linear(tmp_path / str(seed), data), heads_of(data), signed=False)
        p_values += [p for entry in head_maps if entry.measure == "information" for p in entry.summary.p_value]
    assert len(p_values) == 8 * 3 * 12
    assert np.mean(np.array(p_values) < 0.05) < 0.11
    assert 0.35 < np.median(p_values) < 0.65


def test_the_importance_of_a_map_is_the_mean_contribution_over_the_task(tmp_path):
    data = synthetic({0: 5})
    fits = linear(tmp_path, data)
    (real,) = fits.real
    assert real.contributions.shape == (48, 8)
    for entry in maps("probe", data, fits, heads_of(data), signed=False):
        of_task = data.labels["choose"] == data.tasks.index(entry.task)
        source = fits.alone if entry.measure == "alone" else real.contributions
        np.testing.assert_allclose(entry.summary.mean, source[of_task].mean(0))
        assert entry.summary.groups == 8
        assert entry.heads == tuple(heads_of(data))
    real_importance = importance_by_hand(data, data.real(), dict(fits.notes)["penalty"])
    for task in range(3):
        contributions = real.contributions[data.labels["choose"] == task]
        np.testing.assert_allclose(contributions.mean(0), real_importance[task], atol=2e-3)


def test_the_null_is_the_importance_of_a_probe_of_the_shuffled_labels(tmp_path, monkeypatch):
    monkeypatch.setattr(probe_linear, "PENALTIES", (1e-2,))  # else the relabelled data would choose their own
    data = synthetic({0: 5})
    fits = linear(tmp_path / "a", data)
    for shuffle in (0, 7):
        dealt = data.shuffled(shuffle)
        relabelled = replace(data, labels={**data.labels, "fit": dealt.fit, "choose": dealt.choose})
        (other,) = linear(tmp_path / f"b{shuffle}", relabelled).real
        for task in range(3):
            expected = other.contributions[dealt.choose == task].mean(0)
            np.testing.assert_allclose(fits.null[shuffle, task], expected, atol=2e-3)
        right = data.labels["evaluate"]
        assert fits.null_accuracy[shuffle] == pytest.approx((other.logits.argmax(1) == right).mean(), abs=0.05)
    assert fits.null.shape == (SHUFFLES, 3, 8)
    assert fits.halves.shape == (1, 2, 3, 8)


def test_a_half_is_the_probe_of_its_examples_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(probe_linear, "PENALTIES", (1e-2,))
    data = synthetic({0: 5, 1: 3}, strength=1.5)
    fits = linear(tmp_path, data)
    for number, half in enumerate(data.halves(0)):
        np.testing.assert_allclose(fits.halves[0, number], importance_by_hand(data, half, 1e-2), atol=5e-3)
    assert np.abs(fits.halves[0, 0] - fits.halves[0, 1]).max() > 0.02


def test_contributions_and_the_bias_are_the_logit_of_the_right_task(tmp_path):
    data = synthetic({0: 5})
    same = {"choose", "evaluate"}
    data = replace(
        data,
        features={split: data.features["choose" if split in same else split] for split in SPLITS},
        labels={split: data.labels["choose" if split in same else split] for split in SPLITS},
        groups={split: data.groups["choose" if split in same else split] for split in SPLITS},
    )
    (real,) = linear(tmp_path, data).real
    right = data.labels["choose"]
    bias = real.logits[np.arange(len(right)), right] - real.contributions.sum(1)
    for task in range(3):
        np.testing.assert_allclose(bias[right == task], bias[right == task][0], atol=1e-4)
    assert real.contributions.sum(1).std() > 0.1


def test_a_louder_head_counts_no_more(tmp_path):
    data = synthetic({0: 5}, strength=2)
    louder = {split: features.clone() for split, features in data.features.items()}
    for features in louder.values():
        features[:, 3] *= 1000
        features[:, 5] *= 0.01
        features[:, 1] += 50
    plain, loud = linear(tmp_path / "a", data), linear(tmp_path / "b", replace(data, features=louder))
    np.testing.assert_allclose(loud.real[0].contributions, plain.real[0].contributions, atol=5e-3)
    np.testing.assert_allclose(loud.alone, plain.alone, atol=5e-3)
    assert loud.notes == plain.notes


def test_only_fit_scales_the_features(tmp_path):
    data = synthetic({0: 5})
    moved = {**data.features, "evaluate": data.features["evaluate"] * 5 + 3}
    plain, other = linear(tmp_path / "a", data), linear(tmp_path / "b", replace(data, features=moved))
    np.testing.assert_allclose(plain.real[0].contributions, other.real[0].contributions, atol=1e-9)
    np.testing.assert_allclose(plain.null, other.null, atol=1e-9)
    assert not np.allclose(plain.real[0].logits, other.real[0].logits)


def test_shuffled_labels_are_told_no_better_than_by_chance(tmp_path):
    data = synthetic({0: 5, 1: 2, 2: 6})
    fits = linear(tmp_path, data)
    assert (fits.real[0].logits.argmax(1) == data.labels["evaluate"]).mean() > 0.9
    assert fits.null_accuracy.shape == (SHUFFLES,)
    assert fits.null_accuracy.mean() == pytest.approx(1 / 3, abs=0.1)


def test_what_a_head_tells_alone_is_measured_in_nats(tmp_path):
    """All of log 3 where one head tells all three tasks without error, nothing where it knows nothing."""
    data = synthetic(seed=4)
    for split in SPLITS:
        for task in range(3):
            data.features[split][data.labels[split] == task, 6, task] += 60
    alone = linear(tmp_path, data).alone
    assert alone.shape == (48, 8)
    assert alone[:, 6].mean() == pytest.approx(np.log(3), abs=0.1)
    assert alone[:, 6].max() <= np.log(3) + 1e-6
    others = np.delete(alone, 6, axis=1).mean(0)
    assert (others < 0.05).all()
    assert others.mean() < 0.02


def test_heads_that_never_vary_have_no_importance(tmp_path):
    data = synthetic({0: 5})
    for features in data.features.values():
        features[:, 2] = 0.7
    fits = linear(tmp_path, data)
    assert np.abs(fits.real[0].contributions[:, 2]).max() < 1e-6
    importance = maps("probe", data, fits, heads_of(data), signed=False)[0].summary
    assert importance.p_value[2] == pytest.approx(1)
    assert importance.p_value[5] < 0.01
