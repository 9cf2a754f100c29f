"""Random masks against exact effects: of the heads with the largest effects, how many `sense` puts first."""

from __future__ import annotations

import numpy as np

from benchmarks.certificate import known_effects, quick_context
from benchmarks.clock import report
from headatlas.methods.sense.sense import R2, Sense
from headatlas.model.heads import HeadModel

FIRST = 5
SEEDS = (0, 1)  # of the masks


def run(model: HeadModel) -> None:
    context, settings = quick_context(model), {**Sense.presets["quick"], "pairs": 0}
    measured = {seed: Sense(**settings, seed=seed).measure(context) for seed in SEEDS}
    for known in known_effects(model):
        truth = known.exact.mean(0)
        strongest = np.argsort(-truth)[:FIRST]
        for seed, found in measured.items():
            (summary,) = (head_map.summary for head_map in found.maps if head_map.task == known.task)
            (r2,) = (e.value for e in found.diagnostics if (e.task, e.metric) == (known.task, R2))
            first = np.intersect1d(np.argsort(-summary.mean)[:FIRST], strongest)
            what = f"{known.task}, {settings['masks']} masks, seed {seed}"
            report(f"{what}: of the true first {FIRST}", len(first), "", "at least 4")
            report(f"{what}: held-out R2", r2, "", "")
            inside = (summary.low <= truth) & (truth <= summary.high)
            report(f"{what}: intervals that hold the effect of the head alone", float(inside.mean()), "", "")
