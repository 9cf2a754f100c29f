"""From fitted probes to maps, their null, and everything that must be read beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from scipy import stats

from headatlas.methods.probe.data import ProbeData
from headatlas.methods.probe.fits import Fit, Fits
from headatlas.run.context import Diagnostic, Head, HeadMap
from headatlas.stats import Array, Summary, bootstrap_mean, elbow, overlap, proportion_interval, summarise
from headatlas.suites.audit.text_baseline import CLASSIFIERS
from headatlas.suites.example import Example

NAME = "probe"
TOP = 16  # heads whose overlap is reported between halves and between seeds


def maps(data: ProbeData, fits: Fits, heads: Sequence[Head], signed: bool) -> list[HeadMap]:
    """Importance of every head for every task and seed, p against shuffled labels; what each tells alone.

    With `signed`, importance is the size of the contribution and the contribution itself a measure of its own, as in
    the paper; otherwise importance is the contribution.
    """
    made = []
    for task, name in enumerate(data.tasks):
        own = data.labels["choose"] == task
        groups = data.groups["choose"][own].tolist()
        for seed, fit in enumerate(fits.real):
            summary = against_null(summarise(fit.contributions[own], groups), fits.null[:, task])
            if signed:
                made.append(HeadMap(NAME, "signed", name, seed, tuple(heads), summary))
                sizes = Summary(np.abs(summary.mean), summary.stderr, summary.p_value, summary.groups)
                made.append(HeadMap(NAME, "importance", name, seed, tuple(heads), sizes))
            else:
                made.append(HeadMap(NAME, "importance", name, seed, tuple(heads), summary))
        if fits.alone is not None:
            made.append(HeadMap(NAME, "alone", name, 0, tuple(heads), summarise(fits.alone[own], groups)))
    return made


def against_null(summary: Summary, null: Array) -> Summary:
    """The same means, with two-sided p-values against importances under shuffled labels [shuffle, head].

    Is the value one more draw from the null? Student's t with the null's own mean and spread, which a handful of
    shuffles can estimate where counting ranks could not.
    """
    draws = len(null)
    spread = null.std(0, ddof=1) * np.sqrt(1 + 1 / draws)
    away = np.abs(summary.mean - null.mean(0))
    t = np.divide(away, spread, out=np.where(away == 0, 0.0, np.inf), where=spread > 0)
    return Summary(summary.mean, summary.stderr, 2 * stats.t.sf(t, draws - 1), summary.groups)


def diagnostics(data: ProbeData, fits: Fits, texts: Mapping[str, Sequence[Example]]) -> list[Diagnostic]:
    """Accuracy with its interval and its controls, stability, and the sorted curve with its null band."""
    right = data.labels["evaluate"]
    groups = data.groups["evaluate"].tolist()
    found = []
    for seed, fit in enumerate(fits.real):
        hits = (fit.logits.argmax(1) == right).astype(float)
        found.append(_share("accuracy", hits, groups, seed=seed))
        for task, name in enumerate(data.tasks):
            own = right == task
            found.append(_share("recall", hits[own], data.groups["evaluate"][own].tolist(), name, seed))
    found += _text(data, (fits.real[0].logits.argmax(1) == right).astype(float), texts)
    low, high = np.quantile(fits.null_accuracy, [0.025, 0.975])
    found.append(Diagnostic(NAME, "shuffled accuracy", float(fits.null_accuracy.mean()), low=low, high=high))
    found.append(Diagnostic(NAME, "majority", float(np.bincount(right).max() / len(right))))
    found += [Diagnostic(NAME, name, value) for name, value in fits.notes]
    for task, name in enumerate(data.tasks):
        found += _stability(data, fits, task, name) + _curve(data, fits, task, name)
    return found


def _share(metric: str, hits: Array, groups: list[str], task: str | None = None, seed: int = 0) -> Diagnostic:
    low, high = proportion_interval(hits, groups)
    return Diagnostic(NAME, metric, float(hits.mean()), task, seed, low=low, high=high)


def _text(data: ProbeData, hits: Array, texts: Mapping[str, Sequence[Example]]) -> list[Diagnostic]:
    """The same question put to classifiers that see only the text, with the same splits; the gain over the better."""
    groups = data.groups["evaluate"].tolist()
    found, by_text = [], []
    for name, make in CLASSIFIERS.items():
        classifier = make().fit(list(texts["fit"]), data.labels["fit"])
        own = (classifier.predict(list(texts["evaluate"])) == data.labels["evaluate"]).astype(float)
        found.append(_share(f"text {name}", own, groups))
        by_text.append(own)
    gain = hits - max(by_text, key=lambda own: own.mean())
    low, high = bootstrap_mean(gain, groups)
    return [*found, Diagnostic(NAME, "gain over text", float(gain.mean()), low=float(low), high=float(high))]


def _importance(data: ProbeData, fit: Fit, task: int) -> Array:
    mean: Array = fit.contributions[data.labels["choose"] == task].mean(0)
    return mean


def _stability(data: ProbeData, fits: Fits, task: int, name: str) -> list[Diagnostic]:
    """How much of the top and of the order comes back from the other half of the data, and from another seed."""
    halves = [(first[task], second[task]) for first, second in fits.halves]
    k = min(TOP, fits.null.shape[-1])
    found = [
        Diagnostic(NAME, "half overlap", float(np.mean([overlap(*pair, k) for pair in halves])), name),
        Diagnostic(NAME, "half correlation", float(np.mean([stats.spearmanr(*p).statistic for p in halves])), name),
    ]
    pairs = list(combinations([_importance(data, fit, task) for fit in fits.real], 2))
    if pairs:
        found.append(Diagnostic(NAME, "seed overlap", float(np.mean([overlap(*pair, k) for pair in pairs])), name))
    return found


def _curve(data: ProbeData, fits: Fits, task: int, name: str) -> list[Diagnostic]:
    """The sizes of importance in order, the band of the same curve under shuffled labels, and the elbow."""
    values = np.abs(_importance(data, fits.real[0], task))
    null = -np.sort(-np.abs(fits.null[:, task]), axis=1)
    low, high = np.quantile(null, [0.025, 0.975], axis=0)
    curve = [
        Diagnostic(NAME, "curve", float(value), name, place=rank, low=float(low[rank - 1]), high=float(high[rank - 1]))
        for rank, value in enumerate(np.sort(values)[::-1], start=1)
    ]
    return [Diagnostic(NAME, "elbow", float(elbow(values)), name), *curve]
