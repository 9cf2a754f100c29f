"""The linear probe on features in which it is known what tells the tasks apart, and what is reported with it."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from headatlas.run.scoring import Encoder

from headatlas.errors import HeadAtlasError
from headatlas.methods import METHODS
from headatlas.methods.probe import linear as probe_linear
from headatlas.methods.probe import report as probe_report
from headatlas.methods.probe.data import ProbeData
from headatlas.methods.probe.features import Reading, collect
from headatlas.methods.probe.fits import Fit, Fits
from headatlas.methods.probe.linear import fit_linear
from headatlas.methods.probe.multinomial import Standard
from headatlas.methods.probe.probe import Probe
from headatlas.methods.probe.report import against_null, diagnostics, maps
from headatlas.run.cells import Runner
from headatlas.run.context import Work
from headatlas.run.generation import with_own_answers
from headatlas.stats import Summary, bootstrap_mean, elbow, overlap, q_values
from headatlas.suites.audit.text_baseline import CLASSIFIERS
from headatlas.suites.suite import SPLITS, Suite
from headatlas.workflows.map import map_heads
from tests import tiny
from tests.methods.common import work
from tests.methods.probe.probing import synthetic

SHUFFLES = 20


def linear(folder, data: ProbeData) -> Fits:
    return fit_linear(work(folder), data, SHUFFLES, seeds=1)


def heads_of(data: ProbeData) -> list[tuple[int, int]]:
    return [(0, head) for head in range(data.features["fit"].shape[1])]


def standardised(data: ProbeData) -> dict[str, torch.Tensor]:
    standard = Standard.of(data.features["fit"].transpose(0, 1))
    return {split: standard(features.transpose(0, 1)) for split, features in data.features.items()}


# What a probe is fitted on


def test_the_data_hold_every_example_with_its_task_and_group(tmp_path):
    job, reading = work(tmp_path), Reading("first")
    data = ProbeData.of(job, reading)
    assert data.tasks == ("Colours", "Numbers")
    for split in SPLITS:
        features = collect(job, split, reading)
        expected = np.concatenate([features["Colours"], features["Numbers"]])
        np.testing.assert_array_equal(data.features[split].flatten(1).numpy(), expected)
        assert data.features[split].shape[1:] == (12, job.model.head_dim)
        examples = [example for task in data.tasks for example in job.examples(task, split)]
        assert [data.tasks[label] for label in data.labels[split]] == [example.task for example in examples]
        assert data.groups[split].tolist() == [example.group for example in examples]
    assert not set(data.groups["fit"]) & set(data.groups["evaluate"])


def test_shuffled_labels_keep_their_counts_and_stay_whole_in_groups_of_one_size():
    data = synthetic()
    for seed in range(5):
        shuffled = data.shuffled(seed)
        for split in ("fit", "choose"):
            dealt = getattr(shuffled, split)
            np.testing.assert_array_equal(np.bincount(dealt), np.bincount(data.labels[split]))
            assert not np.array_equal(dealt, data.labels[split])
            for group in np.unique(data.groups[split]):
                assert len(set(dealt[data.groups[split] == group])) == 1
        assert shuffled.used.all()


def test_labels_are_dealt_in_runs_where_groups_differ_in_size():
    """Laid out group by group in the order they are dealt in, labels change hardly more often than they did."""
    sizes = np.array([1, 2, 3, 4, 5] * 6)
    groups = np.repeat([f"g{i:02d}" for i in range(30)], sizes)
    labels = np.repeat(np.arange(30) % 3, sizes)
    data = replace(synthetic(), labels={"fit": labels, "choose": labels}, groups={"fit": groups, "choose": groups})
    mixed_groups, singly = [], []
    for seed in range(20):
        dealt = data.shuffled(seed).fit
        np.testing.assert_array_equal(np.bincount(dealt), np.bincount(labels))
        alone = np.random.default_rng(seed).permutation(labels)
        for found, values in ((mixed_groups, dealt), (singly, alone)):
            found.append(np.mean([len(set(values[groups == g])) for g in np.unique(groups)]))
    assert np.mean(mixed_groups) < 1.7 < 1.9 < np.mean(singly)


def test_shuffles_and_halves_depend_on_nothing_but_the_seed():
    one, other = synthetic(seed=1), synthetic({0: 1}, seed=2)
    for seed in (0, 3):
        np.random.seed(seed)
        torch.manual_seed(seed)
        np.testing.assert_array_equal(one.shuffled(seed).fit, other.shuffled(seed).fit)
        np.testing.assert_array_equal(one.shuffled(seed).choose, other.shuffled(seed).choose)
        np.testing.assert_array_equal(one.halves(seed)[0].used, other.halves(seed)[0].used)
    assert not np.array_equal(one.shuffled(0).fit, one.shuffled(1).fit)
    assert not np.array_equal(one.halves(0)[0].used, one.halves(1)[0].used)


def test_halves_share_no_group_and_together_are_everything():
    data = synthetic()
    for seed in range(5):
        first, second = data.halves(seed)
        assert (first.used ^ second.used).all()
        assert not set(data.groups["fit"][first.used]) & set(data.groups["fit"][second.used])
        assert first.used.sum() == second.used.sum()
        for half in (first, second):
            np.testing.assert_array_equal(half.fit, data.labels["fit"])
            np.testing.assert_array_equal(half.choose, data.labels["choose"])


def test_the_key_knows_features_labels_groups_and_names():
    data = synthetic()
    features = {**data.features, "choose": data.features["choose"].clone()}
    features["choose"][3, 2, 1] += 1e-3
    labels = {**data.labels, "evaluate": data.labels["evaluate"][::-1].copy()}
    groups = {**data.groups, "fit": data.groups["fit"][::-1].copy()}
    others = [
        replace(data, features=features),
        replace(data, labels=labels),
        replace(data, groups=groups),
        replace(data, tasks=("A", "B", "X")),
    ]
    assert synthetic().key == data.key
    assert len({data.key, *(other.key for other in others)}) == 5


# The linear probe


@pytest.mark.parametrize("seed", range(3))
def test_the_head_that_carries_a_task_is_the_most_important_one_for_it(tmp_path, seed):
    carriers = {0: 5, 1: 2, 2: 6}
    data = synthetic(carriers, seed=seed)
    found = maps(data, linear(tmp_path, data), heads_of(data), signed=False)
    importance = {entry.task: entry.summary for entry in found if entry.measure == "importance"}
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
        found = maps(data, linear(tmp_path / str(seed), data), heads_of(data), signed=False)
        p_values += [p for entry in found if entry.measure == "importance" for p in entry.summary.p_value]
    assert len(p_values) == 8 * 3 * 12
    assert np.mean(np.array(p_values) < 0.05) < 0.11
    assert 0.35 < np.median(p_values) < 0.65


def test_the_importance_of_a_map_is_the_mean_contribution_over_the_task(tmp_path):
    data = synthetic({0: 5})
    fits = linear(tmp_path, data)
    (real,) = fits.real
    assert real.contributions.shape == (48, 8)
    for entry in maps(data, fits, heads_of(data), signed=False):
        own = data.labels["choose"] == data.tasks.index(entry.task)
        source = fits.alone if entry.measure == "alone" else real.contributions
        np.testing.assert_allclose(entry.summary.mean, source[own].mean(0))
        assert entry.summary.groups == 8
        assert entry.heads == tuple(heads_of(data))
    joint, _ = probe_linear._joint(data, standardised(data), [data.real()])
    for task in range(3):
        expected = joint["contributions"][data.labels["choose"] == task].mean(0)
        np.testing.assert_allclose(joint["importance"][0, task], expected, atol=1e-5)


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
    x = standardised(data)
    for number, half in enumerate(data.halves(0)):
        part = {**x, "fit": x["fit"][:, half.used]}
        only = replace(data, labels={**data.labels, "fit": data.labels["fit"][half.used]})
        joint, _ = probe_linear._joint(only, part, [replace(half, fit=half.fit[half.used], used=half.used[half.used])])
        np.testing.assert_allclose(fits.halves[0, number], joint["importance"][0], atol=5e-3)
    assert np.abs(fits.halves[0, 0] - fits.halves[0, 1]).max() > 0.02


def test_contributions_and_the_bias_are_the_logit_of_the_own_task(tmp_path):
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
    np.testing.assert_array_equal(plain.real[0].contributions, other.real[0].contributions)
    np.testing.assert_array_equal(plain.null, other.null)
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
    importance = maps(data, fits, heads_of(data), signed=False)[0].summary
    assert importance.p_value[2] == pytest.approx(1)
    assert importance.p_value[5] < 0.01


# What is reported


def test_p_against_the_null_is_that_of_one_more_draw():
    from scipy import stats

    rng = np.random.default_rng(0)
    null = rng.normal(0.5, 2.0, size=(20, 2000))
    values = rng.normal(0.5, 2.0, size=2000)
    blank = np.zeros(2000)
    found = against_null(Summary(values, blank, blank, 4), null)
    t = abs(values[0] - null[:, 0].mean()) / (null[:, 0].std(ddof=1) * np.sqrt(21 / 20))
    assert found.p_value[0] == pytest.approx(2 * stats.t.sf(t, 19))
    assert (found.p_value < 0.05).mean() == pytest.approx(0.05, abs=0.015)
    np.testing.assert_array_equal(found.mean, values)


def fake(data: ProbeData, logits: np.ndarray, contributions: np.ndarray, seeds: int = 1) -> Fits:
    rng = np.random.default_rng(9)
    null = rng.normal(size=(SHUFFLES, 3, 8))
    real = [Fit(contributions * (1 if seed == 0 else rng.normal(size=8)), logits) for seed in range(seeds)]
    return Fits(real, null, rng.random(SHUFFLES), rng.normal(size=(2, 2, 3, 8)), notes=(("penalty", 0.25),))


def texts_for(data: ProbeData, telling: float) -> dict[str, list]:
    """Examples whose wording gives the task away in a share of the cases."""
    example, rng = tiny.suite().examples[0], np.random.default_rng(3)
    made = {}
    for split in ("fit", "evaluate"):
        words = [label if rng.random() < telling else rng.integers(3) for label in data.labels[split]]
        made[split] = [
            example.model_copy(update={"prompt": f"the word {['red', 'blue', 'green'][word]} is", "answer": " it"})
            for word in words
        ]
    return made


def by_metric(found, metric, **where):
    chosen = [d for d in found if d.metric == metric and all(getattr(d, key) == v for key, v in where.items())]
    assert chosen, metric
    return chosen


def test_the_text_baselines_learn_from_fit_and_the_gain_is_over_the_better_one():
    data = synthetic()
    texts, right = texts_for(data, 0.5), data.labels["evaluate"]
    logits = np.eye(3)[np.where(np.arange(48) % 4 == 0, (right + 1) % 3, right)]  # three quarters right
    found = diagnostics(data, fake(data, logits, np.ones((48, 8))), texts)
    (accuracy,) = by_metric(found, "accuracy")
    assert accuracy.value == 0.75
    assert accuracy.low < 0.75 < accuracy.high
    hits = {}
    for name, make in CLASSIFIERS.items():
        hits[name] = make().fit(texts["fit"], data.labels["fit"]).predict(texts["evaluate"]) == right
        (text,) = by_metric(found, f"text {name}")
        assert text.value == pytest.approx(hits[name].mean())
        assert 1 / 3 < text.value < 0.9
    better = max(hits.values(), key=np.mean).astype(float)
    (gain,) = by_metric(found, "gain over text")
    assert gain.value == pytest.approx(0.75 - better.mean())
    paired = (logits.argmax(1) == right) - better
    expected = bootstrap_mean(paired, data.groups["evaluate"].tolist())
    np.testing.assert_allclose([gain.low, gain.high], expected)


def test_what_is_evaluated_never_trains_a_text_baseline():
    """Other labels of the evaluated examples change no prediction, only what is right."""
    data = synthetic()
    texts = texts_for(data, 1.0)
    fits = fake(data, np.eye(3)[data.labels["evaluate"]], np.ones((48, 8)))
    swapped = replace(data, labels={**data.labels, "evaluate": (data.labels["evaluate"] + 1) % 3})
    for name in CLASSIFIERS:
        assert by_metric(diagnostics(data, fits, texts), f"text {name}")[0].value == 1
        assert by_metric(diagnostics(swapped, fits, texts), f"text {name}")[0].value == 0


def test_recall_majority_and_shuffled_accuracy_are_reported():
    data = synthetic()
    right = data.labels["evaluate"]
    fits = fake(data, np.eye(3)[np.where(right == 2, 0, right)], np.ones((48, 8)))
    found = diagnostics(data, fits, texts_for(data, 0.5))
    assert [d.value for d in by_metric(found, "recall")] == [1, 1, 0]
    assert by_metric(found, "majority")[0].value == pytest.approx(1 / 3)
    (shuffled,) = by_metric(found, "shuffled accuracy")
    assert shuffled.value == pytest.approx(fits.null_accuracy.mean())
    np.testing.assert_allclose([shuffled.low, shuffled.high], np.quantile(fits.null_accuracy, [0.025, 0.975]))
    assert by_metric(found, "penalty")[0].value == 0.25


def test_the_curve_is_sorted_by_size_and_shown_with_the_band_of_the_null():
    data = synthetic()
    effects = np.array([0.1, -9.0, 0.3, 8.0, 0.2, 0.0, 0.05, 7.0])
    fits = fake(data, np.eye(3)[data.labels["evaluate"]], np.tile(effects, (48, 1)))
    found = diagnostics(data, fits, texts_for(data, 0.5))
    curve = by_metric(found, "curve", task="B")
    assert [d.place for d in curve] == list(range(1, 9))
    np.testing.assert_allclose([d.value for d in curve], np.sort(np.abs(effects))[::-1])
    null = -np.sort(-np.abs(fits.null[:, 1]), axis=1)
    np.testing.assert_allclose([d.low for d in curve], np.quantile(null, 0.025, axis=0))
    np.testing.assert_allclose([d.high for d in curve], np.quantile(null, 0.975, axis=0))
    assert by_metric(found, "elbow", task="B")[0].value == elbow(effects) == 3


def test_stability_is_the_overlap_between_halves_and_between_seeds(monkeypatch):
    monkeypatch.setattr(probe_report, "TOP", 3)
    data = synthetic()
    effects = np.random.default_rng(2).normal(size=8)
    fits = fake(data, np.eye(3)[data.labels["evaluate"]], np.tile(effects, (48, 1)), seeds=3)
    found = diagnostics(data, fits, texts_for(data, 0.5))
    halves = [overlap(*pair[:, 2], 3) for pair in fits.halves]
    assert by_metric(found, "half overlap", task="C")[0].value == pytest.approx(np.mean(halves))
    first, second, third = (fit.contributions[0] for fit in fits.real)
    pairs = [overlap(first, second, 3), overlap(first, third, 3), overlap(second, third, 3)]
    assert by_metric(found, "seed overlap", task="A")[0].value == pytest.approx(np.mean(pairs))
    alone = diagnostics(data, replace(fits, real=fits.real[:1]), texts_for(data, 0.5))
    assert not [d for d in alone if d.metric == "seed overlap"]


# The method


def job(folder, suite: Suite) -> Work:
    model = tiny.planted()
    return Work(model, suite.split(), Runner(folder, tiny.Listener()), Encoder(model))


def test_the_probe_tells_the_tasks_of_a_model_and_maps_every_head(tmp_path):
    measured = Probe(shuffles=10).measure(job(tmp_path, tiny.copying(36)))
    grids = {(entry.measure, entry.task): entry.summary.mean.reshape(3, 4) for entry in measured.maps}
    assert set(grids) == {(measure, task) for measure in ("importance", "alone") for task in ("Colours", "Numbers")}
    value = {entry.metric: entry.value for entry in measured.diagnostics if entry.task is None}
    assert value["accuracy"] > 0.8
    better = max(value["text naive Bayes"], value["text tf-idf"])
    assert value["gain over text"] == pytest.approx(value["accuracy"] - better)
    for task, head in tiny.HELPERS.items():
        assert grids["alone", task][head] > np.median(grids["alone", task])


@pytest.fixture
def two_methods(monkeypatch):
    """Attribution and the probe are all there is, and nothing is published."""
    known = {name: place for name, place in METHODS.items() if name in ("attribute", "probe")}
    monkeypatch.setattr("headatlas.workflows.map.METHODS", known)
    monkeypatch.setattr("headatlas.workflows.publish.publish", lambda atlas, reporter: [])


def test_one_task_cannot_be_probed(tmp_path, two_methods):
    suite, said = tiny.suite(tasks=("Colours",)), tiny.Listener()
    with pytest.raises(
        HeadAtlasError, match="The method 'probe' tells tasks apart, and only 'Colours' is to be mapped"
    ):
        map_heads(tiny.model(), suite, ["probe"], at_chance=True, out=tmp_path / "a", reporter=said)
    assert not (tmp_path / "a").exists()
    with pytest.raises(HeadAtlasError, match="The method 'probe' tells tasks apart"):
        map_heads(tiny.model(), suite, ["attribute", "probe"], at_chance=True, out=tmp_path / "a", reporter=said)
    atlas = map_heads(tiny.model(), suite, at_chance=True, out=tmp_path / "b", reporter=said)
    assert atlas.methods == ["attribute"]
    assert "probe is left out: it tells tasks apart, and there is only Colours." in said.said


def test_where_only_one_task_is_left_after_judging_the_probe_is_left_out(tmp_path, two_methods):
    """A second task that the model cannot do: right answers are never the word of the prompt."""
    wrong = [
        e.model_copy(update={"answer": e.distractors[0], "distractors": (e.answer,)})
        for e in tiny.copying(36).of("Numbers")
    ]
    suite = Suite("half", (*tiny.copying(36).of("Colours"), *wrong))
    said = tiny.Listener()
    atlas = map_heads(tiny.planted(), suite, out=tmp_path / "a", reporter=said)
    assert atlas.tasks == ["Colours"]
    assert any("probe is left out" in text for text in said.said)
    with pytest.raises(HeadAtlasError, match="only 'Colours' is to be mapped"):
        map_heads(tiny.planted(), suite, ["probe"], out=tmp_path / "b", reporter=said)


def test_generated_answers_are_probed_where_they_are_predicted(tmp_path):
    """The same as replacing the answers first; the planted model goes on after its word, so the maps differ."""
    plain = job(tmp_path, tiny.copying())
    found = [
        Probe(shuffles=10, answers=answers).measure(work).maps[0].summary.mean
        for answers, work in (("reference", plain), ("generated", plain), ("reference", with_own_answers(plain)))
    ]
    np.testing.assert_array_equal(found[1], found[2])
    assert not np.allclose(found[0], found[1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "linea"}, r"Unknown probe 'linea'. Did you mean 'linear'\?"),
        ({"answers": "mine"}, "Unknown kind of answers 'mine'"),
        ({"shuffles": 3}, "3 shuffled refits were asked for; a null needs at least 10"),
        ({"seeds": 0}, "0 seeds were asked for; take at least 1"),
        ({"tokens": "some"}, "Unknown choice of answer tokens 'some'"),
        ({"k": 0}, "The 0 most important answer tokens"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, message):
    with pytest.raises(HeadAtlasError, match=message):
        Probe(**settings)
