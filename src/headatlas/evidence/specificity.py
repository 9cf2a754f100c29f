"""Remove the heads of one task and measure all the others: are they its heads, or everybody's?"""

from __future__ import annotations

import numpy as np

from headatlas.evidence.choice import Heads
from headatlas.evidence.mask import INTACT
from headatlas.evidence.trial import SPLIT, Evidence, Trial, changes, gate_batch, gates_without
from headatlas.run.cells import Cell, Result
from headatlas.run.scoring import Batch, Option, make_batches
from headatlas.stats import Array, bootstrap_mean, expanded_percentiles, resamples
from headatlas.suites.neutral.generate import TASK as NEUTRAL


def specificity(trial: Trial) -> list[Evidence]:
    """For all pairs of tasks, the neutral one included: heads chosen for the first, damage on the second.

    `own minus others` is, on the examples of a task, what its own heads do less the mean of what those of the other
    tasks do: paired, so that easy and hard tasks compare. Below zero the own heads hurt more.
    """
    sets = {task: trial.rankings[task].top(trial.settings.k) for task in trial.tasks}
    measured = [*trial.tasks, *([NEUTRAL] if NEUTRAL in trial.work.tasks and NEUTRAL not in trial.tasks else [])]
    outcomes = trial.remove("Specificity", {task: [INTACT, *sets.values()] for task in measured})
    found = []
    for eval_task, outcome in outcomes.items():
        groups = trial.groups(eval_task)
        for metric, (values, level, low, high) in changes(outcome, outcome[:1], groups).items():
            for i, task in enumerate(sets, start=1):
                row = (metric, float(values[i]), level, float(low[i]), float(high[i]), len(sets[task]))
                found.append(Evidence("specificity", task, eval_task, "top", *row))
        if eval_task in sets and len(sets) > 1:
            place, k = list(sets).index(eval_task) + 1, len(sets[eval_task])
            found += _own_minus_others(eval_task, place, outcome.metrics, groups, k)
    return found + (_perplexity(trial, sets) if NEUTRAL in trial.work.tasks else [])


def _own_minus_others(task: str, own: int, metrics: dict[str, Array], groups: list[str], k: int) -> list[Evidence]:
    found = []
    for metric, values in metrics.items():
        others = np.delete(values, [0, own], axis=0).mean(0)
        low, high = bootstrap_mean(values[own] - others, groups)
        row = (metric, float((values[own] - others).mean()), 0.0, float(low), float(high), k)
        found.append(Evidence("specificity", task, task, "own minus others", *row))
    return found


def _perplexity(trial: Trial, sets: dict[str, Heads]) -> list[Evidence]:
    """Perplexity of plain text, all its tokens, intact and without the heads of each task."""
    work, texts = trial.work, []
    for example in work.examples(NEUTRAL, SPLIT):
        option = work.encoder.encode(example)[0]
        texts.append([Option(option.tokens, 1)])
    batches = make_batches(texts)
    heads = [INTACT, *sets.values()]

    def cell(batch: Batch) -> Cell:
        baseline = trial.baselines
        inputs = work.inputs(
            "remove", batch=batch.key, baseline=baseline.inputs(NEUTRAL), heads=[sorted(own) for own in heads]
        )

        def compute() -> Result:
            gates = gates_without(work.model.shape, heads)
            return gate_batch(work.model, batch, gates, baseline.of(NEUTRAL, batch))

        return Cell(inputs, compute, batch.ids.numel() * len(heads))

    results = work.runner.run("Neutral text", [cell(batch) for batch in batches])
    logprobs = np.empty((len(heads), len(texts)))
    for batch, result in zip(batches, results, strict=True):
        logprobs[:, list(batch.members)] = result["logprobs"]
    lengths = np.array([len(option.tokens) - 1 for (option,) in texts])
    groups = trial.groups(NEUTRAL)
    weights = resamples(groups)
    exact = np.exp(-logprobs.sum(1) / lengths.sum())
    # The interval is that of the ratio to the intact model, paired; times the intact perplexity.
    drawn = np.exp(-(weights @ (logprobs - logprobs[0]).T) / (weights @ lengths)[:, None])
    low, high = expanded_percentiles(drawn * exact[0], len(set(groups)))
    rows = zip(sets, exact[1:], low[1:], high[1:], strict=True)
    found = []
    for task, value, least, most in rows:
        row = ("perplexity", float(value), float(exact[0]), float(least), float(most), len(sets[task]))
        found.append(Evidence("specificity", task, NEUTRAL, "top", *row))
    return found
