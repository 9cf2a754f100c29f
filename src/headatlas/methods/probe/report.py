"""From fitted probes to maps, their null, and everything that must be read beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from headatlas.atlas.records import Diagnostic, Head, HeadMap
from headatlas.intervals import change_interval
from headatlas.methods.probe.data import ProbeData
from headatlas.methods.probe.fits import Fit, Fits
from headatlas.stats import (
    Array,
    Summary,
    elbow,
    overlap,
    proportion_interval,
    rank_correlation,
    summarise,
    too_few_groups,
)
from headatlas.suites.audit.text_baseline import CLASSIFIERS
from headatlas.suites.example import Example

TOP = 16  # heads whose overlap is reported between halves and between seeds


def maps(method: str, data: ProbeData, fits: Fits, heads: Sequence[Head], signed: bool) -> list[HeadMap]:
    """Importance of every head for every task and seed, and what each tells alone.

    With `signed`, information is the size of the contribution and the contribution itself a measure of its own, as in
    the paper; otherwise information is the contribution, with p against shuffled labels. The paper's net has no p: what
    a head that carries nothing adds there grows with what the net learns from other heads, and with shuffled labels
    there is nothing to learn.
    """
    head_maps = []
    for task, name in enumerate(data.tasks):
        of_task = data.labels["choose"] == task
        groups = data.groups["choose"][of_task].tolist()

        def add(measure: str, seed: int, summary: Summary, name: str = name) -> None:
            head_maps.append(HeadMap(method, measure, name, seed, tuple(heads), summary))

        for seed, fit in enumerate(fits.real):
            summary = summarise(fit.contributions[of_task], groups)
            if signed:
                summary = replace(summary, p_value=np.full_like(summary.mean, np.nan))
                add("signed", seed, summary)
                add("information", seed, size_of(summary))
            else:
                add("information", seed, against_null(summary, fits.null[:, task]))
        if fits.alone is not None:
            add("alone", 0, above_zero(summarise(fits.alone[of_task], groups)))
    return head_maps


def against_null(summary: Summary, null: Array) -> Summary:
    """The same means, with two-sided p-values against importances under shuffled labels [shuffle, head].

    Is the value one more draw from the null? Student's t with the null's own mean and spread, which a handful of
    shuffles can estimate where counting ranks could not; with half the degrees of freedom, because the values are
    products and their tails heavier than normal. None with too few groups, which can hardly be shuffled.
    """
    if too_few_groups(summary.groups):
        return summary
    draws = len(null)
    spread = null.std(0, ddof=1) * np.sqrt(1 + 1 / draws)
    away = np.abs(summary.mean - null.mean(0))
    t = np.divide(away, spread, out=np.where(away == 0, 0.0, np.inf), where=spread > 0)
    return replace(summary, p_value=2 * stats.t.sf(t, (draws - 1) / 2))


def above_zero(summary: Summary) -> Summary:
    """The same with p-values of "no more than zero": a classifier that learnt from a head without information is
    worse than none, and that is no discovery."""
    one_sided = np.where(summary.mean > 0, summary.p_value / 2, 1 - summary.p_value / 2)
    return replace(summary, p_value=one_sided)


def size_of(summary: Summary) -> Summary:
    """The same for |value|: the interval is reflected where the value is negative."""
    negative = summary.mean < 0
    return replace(
        summary,
        mean=np.abs(summary.mean),
        low=np.where(negative, -summary.high, summary.low),
        high=np.where(negative, -summary.low, summary.high),
    )


def diagnostics(method: str, data: ProbeData, fits: Fits, texts: Mapping[str, Sequence[Example]]) -> list[Diagnostic]:
    """Accuracy with its interval and its controls, stability, and the sorted curve with its null band."""
    entry = partial(Diagnostic, method)
    right = data.labels["evaluate"]
    groups = data.groups["evaluate"]
    entries = []
    for seed, fit in enumerate(fits.real):
        hits = (fit.logits.argmax(1) == right).astype(float)
        entries.append(_share(entry, "accuracy", hits, groups, seed=seed))
        for task, name in enumerate(data.tasks):
            of_task = right == task
            entries.append(_share(entry, "recall", hits[of_task], groups[of_task], name, seed))
    entries += _text(entry, data, (fits.real[0].logits.argmax(1) == right).astype(float), texts)
    low, high = np.quantile(fits.null_accuracy, [0.025, 0.975])
    entries.append(
        entry("shuffled accuracy", float(fits.null_accuracy.mean()), null_low=float(low), null_high=float(high))
    )
    entries.append(entry("majority", float(np.bincount(right).max() / len(right))))
    entries += [entry(name, value) for name, value in fits.notes]
    for task, name in enumerate(data.tasks):
        entries += _stability(entry, data, fits, task, name) + _curve(entry, data, fits, task, name)
    return entries


Entry = Callable[..., Diagnostic]


def _share(
    entry: Entry, metric: str, hits: Array, groups: NDArray[np.str_], task: str | None = None, seed: int = 0
) -> Diagnostic:
    low, high = proportion_interval(hits, groups.tolist())
    return entry(metric, float(hits.mean()), task, seed, low=low, high=high)


def _text(entry: Entry, data: ProbeData, hits: Array, texts: Mapping[str, Sequence[Example]]) -> list[Diagnostic]:
    """The same question put to classifiers that see only the text, with the same splits; the gain over the better."""
    groups = data.groups["evaluate"]
    entries, by_text = [], []
    for name, make in CLASSIFIERS.items():
        classifier = make().fit(list(texts["fit"]), data.labels["fit"])
        text_hits = (classifier.predict(list(texts["evaluate"])) == data.labels["evaluate"]).astype(float)
        entries.append(_share(entry, f"text {name}", text_hits, groups))
        by_text.append(text_hits)
    best = max(by_text, key=lambda text_hits: text_hits.mean())
    low, high = change_interval(best, hits, groups.tolist())
    return [*entries, entry("gain over text", float((hits - best).mean()), low=float(low), high=float(high))]


def _importance(data: ProbeData, fit: Fit, task: int) -> Array:
    mean: Array = fit.contributions[data.labels["choose"] == task].mean(0)
    return mean


def _stability(entry: Entry, data: ProbeData, fits: Fits, task: int, name: str) -> list[Diagnostic]:
    """How much of the top and of the order comes back from the other half of the data, and from another seed."""
    halves = [(first[task], second[task]) for first, second in fits.halves]
    k = min(TOP, fits.null.shape[-1])
    entries = [
        entry("half overlap", float(np.mean([overlap(*pair, k) for pair in halves])), name),
        entry("half correlation", float(np.mean([rank_correlation(*pair) for pair in halves])), name),
    ]
    pairs = list(combinations([_importance(data, fit, task) for fit in fits.real], 2))
    if pairs:
        entries.append(entry("seed overlap", float(np.mean([overlap(*pair, k) for pair in pairs])), name))
    return entries


def _curve(entry: Entry, data: ProbeData, fits: Fits, task: int, name: str) -> list[Diagnostic]:
    """The sizes of importance in order, the band of the same curve under shuffled labels, and the elbow."""
    sizes = np.abs(_importance(data, fits.real[0], task))
    null = -np.sort(-np.abs(fits.null[:, task]), axis=1)
    low, high = np.quantile(null, [0.025, 0.975], axis=0)
    curve = [
        entry("curve", float(size), name, rank=i + 1, null_low=float(low[i]), null_high=float(high[i]))
        for i, size in enumerate(np.sort(sizes)[::-1])
    ]
    return [entry("elbow", float(elbow(sizes)), name), *curve]
