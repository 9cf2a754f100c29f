"""What methods report beside their maps, made up."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from headatlas.atlas.records import Diagnostic
from headatlas.stats import elbow

TARGETS = ("first", "previous", "current", "same", "after_same")
STAGES = ("base", "plus", "minus")


def probe_diagnostics(rng: np.random.Generator, truth: Mapping[str, np.ndarray]) -> list[Diagnostic]:
    """Accuracy and its controls, stability, and the sorted curve of every task with its null band and its elbow."""
    entry = partial(Diagnostic, "probe")
    entries = [
        entry("accuracy", 0.79, low=0.74, high=0.83),
        entry("text naive Bayes", 0.68, low=0.62, high=0.73),
        entry("text tf-idf", 0.71, low=0.66, high=0.76),
        entry("gain over text", 0.08, low=0.03, high=0.13),
        entry("shuffled accuracy", 0.13, null_low=0.08, null_high=0.19),
        entry("majority", 0.125),
    ]
    for task, effect in truth.items():
        for metric in ("recall", "half overlap", "half correlation", "seed overlap"):
            entries.append(entry(metric, float(rng.uniform(0.6, 0.95)), task))
        curve = np.sort(np.abs(effect).ravel())[::-1]
        null = np.sort(np.abs(rng.normal(0, 0.4 * curve.mean(), (20, curve.size))), axis=1)[:, ::-1]
        low, high = np.quantile(null, [0.025, 0.975], axis=0)
        entries.append(entry("elbow", float(elbow(effect)), task))
        entries += [
            entry("curve", float(size), task, rank=i + 1, null_low=float(low[i]), null_high=float(high[i]))
            for i, size in enumerate(curve)
        ]
    return entries


def gate_diagnostics(
    rng: np.random.Generator, tasks: Sequence[str], seeds: int, shape: tuple[int, int]
) -> list[Diagnostic]:
    """Held-out likelihoods, the course of every fit, and how far the circuits of the seeds agree."""
    entry = partial(Diagnostic, "gate")
    entries = []
    for task in tasks:
        entries.append(entry("full_nll", 1.5, task, low=1.3, high=1.7))
        for seed in range(seeds):
            for stage in STAGES:
                objective = 1.5 + np.exp(-np.arange(8) / 3) + 0.1 * rng.random(8)
                for step, value in enumerate(objective):
                    entries.append(entry(f"{stage}_objective", float(value), task, seed, step=step))
                    entries.append(entry(f"{stage}_open", float(shape[0] * shape[1] - 2 * step), task, seed, step=step))
                for step in (3, 7):
                    entries.append(
                        entry(f"{stage}_choose_objective", float(objective[step]) + 0.2, task, seed, step=step)
                    )
                entries.append(entry(f"{stage}_best_step", 7.0, task, seed))
            entries.append(entry("minus_binary_nll", 1.6, task, seed, low=1.4, high=1.8))
            entries.append(entry("circuit_size", float(rng.integers(8, 14)), task, seed))
        entries += [
            entry("facilitating_seeds", float(rng.integers(0, seeds + 1)), task, layer=layer, head=head)
            for layer, head in np.ndindex(*shape)
        ]
        entries += [entry("shared_by_all", 7.0, task), entry("shared_by_all_share", 0.6, task)]
        entries += [entry("sufficient_sets", float(seeds), task), entry("disjoint_sufficient_sets", 1.0, task)]
        if seeds > 1:
            pairs = [(a, b) for a in range(seeds) for b in range(a + 1, seeds)]
            entries += [entry("jaccard", 0.61, task, a, other_seed=b) for a, b in pairs]
            entries.append(entry("jaccard_mean", 0.61, task, null_low=0.35, null_high=0.5))
            entries.append(entry("jaccard_chance", 0.42, task))
    return entries


def attention_diagnostics(rng: np.random.Generator, shape: tuple[int, int]) -> list[Diagnostic]:
    """Where every head looks."""
    return [
        Diagnostic("attention", target, float(rng.uniform(0, 0.5)), layer=layer, head=head)
        for target in TARGETS
        for layer, head in np.ndindex(*shape)
    ]
