"""What is reported with a probe: p against shuffled labels, text baselines, stability, the curve and its null band."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from headatlas.intervals import change_interval
from headatlas.methods.probe import report as probe_report
from headatlas.methods.probe.data import ProbeData
from headatlas.methods.probe.fits import Fit, Fits
from headatlas.methods.probe.report import against_null, diagnostics
from headatlas.stats import Summary, elbow, overlap
from headatlas.suites.audit.text_baseline import CLASSIFIERS
from tests import tiny
from tests.methods.probe.probing import synthetic

SHUFFLES = 20


def test_p_against_the_null_is_that_of_one_more_draw():
    rng = np.random.default_rng(0)
    null = rng.normal(0.5, 2.0, size=(20, 2000))
    values = rng.normal(0.5, 2.0, size=2000)
    summary = against_null(replace(Summary.bare(values), groups=12), null)
    t = abs(values[0] - null[:, 0].mean()) / (null[:, 0].std(ddof=1) * np.sqrt(21 / 20))
    assert summary.p_value[0] == pytest.approx(2 * stats.t.sf(t, 19 / 2))
    assert 0.02 < (summary.p_value < 0.05).mean() < 0.055
    np.testing.assert_array_equal(summary.mean, values)
    assert np.isnan(against_null(replace(Summary.bare(values), groups=4), null).p_value).all(), "too few groups"


def fake(data: ProbeData, logits: np.ndarray, contributions: np.ndarray, seeds: int = 1) -> Fits:
    rng = np.random.default_rng(9)
    null = rng.normal(size=(SHUFFLES, 3, 8))
    real = [Fit(contributions * (1 if seed == 0 else rng.normal(size=8)), logits) for seed in range(seeds)]
    return Fits(real, null, rng.random(SHUFFLES), rng.normal(size=(2, 2, 3, 8)), notes=(("penalty", 0.25),))


def texts_for(data: ProbeData, telling: float) -> dict[str, list]:
    """Examples whose wording gives the task away in a share of the cases."""
    example, rng = tiny.suite().examples[0], np.random.default_rng(3)
    texts = {}
    for split in ("fit", "evaluate"):
        words = [label if rng.random() < telling else rng.integers(3) for label in data.labels[split]]
        texts[split] = [
            example.model_copy(update={"prompt": f"the word {['red', 'blue', 'green'][word]} is", "answer": " it"})
            for word in words
        ]
    return texts


def by_metric(entries, metric, **where):
    chosen = [d for d in entries if d.metric == metric and all(getattr(d, key) == v for key, v in where.items())]
    assert chosen, metric
    return chosen


def test_the_text_baselines_learn_from_fit_and_the_gain_is_over_the_better_one():
    data = synthetic()
    texts, right = texts_for(data, 0.5), data.labels["evaluate"]
    logits = np.eye(3)[np.where(np.arange(48) % 4 == 0, (right + 1) % 3, right)]  # three quarters right
    entries = diagnostics("probe", data, fake(data, logits, np.ones((48, 8))), texts)
    (accuracy,) = by_metric(entries, "accuracy")
    assert accuracy.value == 0.75
    assert accuracy.low < 0.75 < accuracy.high
    hits = {}
    for name, make in CLASSIFIERS.items():
        hits[name] = make().fit(texts["fit"], data.labels["fit"]).predict(texts["evaluate"]) == right
        (text,) = by_metric(entries, f"text {name}")
        assert text.value == pytest.approx(hits[name].mean())
        assert 1 / 3 < text.value < 0.9
    better = max(hits.values(), key=np.mean).astype(float)
    (gain,) = by_metric(entries, "gain over text")
    assert gain.value == pytest.approx(0.75 - better.mean())
    hit = (logits.argmax(1) == right).astype(float)
    expected = change_interval(better, hit, data.groups["evaluate"].tolist())
    np.testing.assert_allclose([gain.low, gain.high], expected)


def test_a_probe_that_agrees_with_the_text_everywhere_is_not_known_to_gain_exactly_nothing():
    """Nothing flips: a bootstrap over groups had no width there."""
    data = synthetic()
    fits = fake(data, np.eye(3)[data.labels["evaluate"]], np.ones((48, 8)))
    (gain,) = by_metric(diagnostics("probe", data, fits, texts_for(data, 1.0)), "gain over text")
    assert gain.value == 0
    assert gain.low < -0.05 and gain.high > 0.05


def test_what_is_evaluated_never_trains_a_text_baseline():
    """Other labels of the evaluated examples change no prediction, only what is right."""
    data = synthetic()
    texts = texts_for(data, 1.0)
    fits = fake(data, np.eye(3)[data.labels["evaluate"]], np.ones((48, 8)))
    swapped = replace(data, labels={**data.labels, "evaluate": (data.labels["evaluate"] + 1) % 3})
    for name in CLASSIFIERS:
        assert by_metric(diagnostics("probe", data, fits, texts), f"text {name}")[0].value == 1
        assert by_metric(diagnostics("probe", swapped, fits, texts), f"text {name}")[0].value == 0


def test_recall_majority_and_shuffled_accuracy_are_reported():
    data = synthetic()
    right = data.labels["evaluate"]
    fits = fake(data, np.eye(3)[np.where(right == 2, 0, right)], np.ones((48, 8)))
    entries = diagnostics("probe", data, fits, texts_for(data, 0.5))
    assert [d.value for d in by_metric(entries, "recall")] == [1, 1, 0]
    assert by_metric(entries, "majority")[0].value == pytest.approx(1 / 3)
    (shuffled,) = by_metric(entries, "shuffled accuracy")
    assert shuffled.value == pytest.approx(fits.null_accuracy.mean())
    np.testing.assert_allclose([shuffled.null_low, shuffled.null_high], np.quantile(fits.null_accuracy, [0.025, 0.975]))
    assert shuffled.low is shuffled.high is None, "the spread of the null is no interval of the value"
    assert by_metric(entries, "penalty")[0].value == 0.25


def test_the_curve_is_sorted_by_size_and_shown_with_the_band_of_the_null():
    data = synthetic()
    effects = np.array([0.1, -9.0, 0.3, 8.0, 0.2, 0.0, 0.05, 7.0])
    fits = fake(data, np.eye(3)[data.labels["evaluate"]], np.tile(effects, (48, 1)))
    entries = diagnostics("probe", data, fits, texts_for(data, 0.5))
    curve = by_metric(entries, "curve", task="B")
    assert [d.rank for d in curve] == list(range(1, 9))
    np.testing.assert_allclose([d.value for d in curve], np.sort(np.abs(effects))[::-1])
    null = -np.sort(-np.abs(fits.null[:, 1]), axis=1)
    np.testing.assert_allclose([d.null_low for d in curve], np.quantile(null, 0.025, axis=0))
    np.testing.assert_allclose([d.null_high for d in curve], np.quantile(null, 0.975, axis=0))
    assert by_metric(entries, "elbow", task="B")[0].value == elbow(effects) == 3


def test_stability_is_the_overlap_between_halves_and_between_seeds(monkeypatch):
    monkeypatch.setattr(probe_report, "TOP", 3)
    data = synthetic()
    effects = np.random.default_rng(2).normal(size=8)
    fits = fake(data, np.eye(3)[data.labels["evaluate"]], np.tile(effects, (48, 1)), seeds=3)
    entries = diagnostics("probe", data, fits, texts_for(data, 0.5))
    halves = [overlap(*pair[:, 2], 3) for pair in fits.halves]
    assert by_metric(entries, "half overlap", task="C")[0].value == pytest.approx(np.mean(halves))
    first, second, third = (fit.contributions[0] for fit in fits.real)
    pairs = [overlap(first, second, 3), overlap(first, third, 3), overlap(second, third, 3)]
    assert by_metric(entries, "seed overlap", task="A")[0].value == pytest.approx(np.mean(pairs))
    alone = diagnostics("probe", data, replace(fits, real=fits.real[:1]), texts_for(data, 0.5))
    assert not [d for d in alone if d.metric == "seed overlap"]
