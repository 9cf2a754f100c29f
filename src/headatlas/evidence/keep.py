"""Keep only the heads a map calls important: how much of the task do they carry by themselves?"""

from __future__ import annotations

import numpy as np

from headatlas.evidence.choice import Heads
from headatlas.evidence.trial import Evidence, Trial, changes
from headatlas.stats import Array, expanded_percentiles, resamples

Circuit = tuple[str, int | None, Heads]  # control, draw, the heads that are kept

SMALLEST = 0.05  # nats between the intact model and one without heads; below that a fraction of it means nothing


def keep(trial: Trial) -> list[Evidence]:
    """All heads but the top k are replaced by their baseline, for circuits of several sizes; and random circuits.

    f = (m(C) - m(0)) / (m(N) - m(0)), m the log-probability of the answer (MIB): 0 without any head, 1 with all.
    CPR is the area under f over the share of heads kept, CMD the area of |1 - f|.
    """
    every = frozenset(trial.work.heads)
    plan = {task: _circuits(trial, task) for task in trial.tasks}
    outcomes = trial.remove("Keep", {task: [every - kept for *_, kept in own] for task, own in plan.items()})
    found = []
    for task, own in plan.items():
        outcome, groups = outcomes[task], trial.groups(task)
        for metric, (values, level, low, high) in changes(outcome, outcome[:1], groups).items():
            for i, (control, draw, kept) in enumerate(own[1:], start=1):
                row = (metric, float(values[i]), level, float(low[i]), float(high[i]), len(kept), draw)
                found.append(Evidence("keep", task, task, control, *row))
        if outcome.logprob[0].mean() - outcome.logprob[1].mean() < SMALLEST:
            trial.work.runner.reporter.say(
                f"{task}: the model loses almost nothing without any head, so no recovered fraction is given."
            )
            continue
        found += _fractions(task, own, outcome.logprob, groups, len(every))
    return found


def _circuits(trial: Trial, task: str) -> list[Circuit]:
    """All heads, none, the top ones of each size, and random ones of the same sizes from the same layers."""
    ranking, every = trial.rankings[task], frozenset(trial.work.heads)
    sizes = [k for k in trial.settings.sizes if k < len(every)]
    plan: list[Circuit] = [("all", None, every), ("none", None, frozenset())]
    for k in sizes:
        # A map of some heads ranks those; larger circuits are not its claim.
        if k <= len(ranking.strongest):
            plan.append(("top", None, ranking.top(k)))
            drawn = trial.draws(task, k, trial.settings.few_draws)
            plan += [("random", draw, heads) for draw, heads in enumerate(drawn)]
    return plan


def _fractions(task: str, own: list[Circuit], logprob: Array, groups: list[str], heads: int) -> list[Evidence]:
    weights = resamples(groups)
    drawn = (weights / weights.sum(1, keepdims=True)) @ logprob.T  # [draw, circuit]
    means = logprob.mean(1)

    def recovered(values: Array) -> Array:
        return (values - values[..., 1:2]) / (values[..., :1] - values[..., 1:2])

    exact, spread = recovered(means), recovered(drawn)
    low, high = expanded_percentiles(spread, len(set(groups)))
    found = [
        Evidence("keep", task, task, control, "fraction", float(exact[i]), 1.0, float(low[i]), float(high[i]),
                 len(kept), draw)
        for i, (control, draw, kept) in enumerate(own)
        if i > 1
    ]  # fmt: skip
    for control in ("top", "random"):
        places: dict[int, list[int]] = {}  # of one size several random circuits count as their mean
        for i, (kind, _, kept) in enumerate(own):
            if kind == control:
                places.setdefault(len(kept), []).append(i)
        if not places:
            continue
        sizes = np.array([0, *places, heads]) / heads
        columns = [[1], *places.values(), [0]]
        curve = np.stack([exact[c].mean(-1) for c in columns], -1)
        curves = np.stack([spread[:, c].mean(-1) for c in columns], -1)
        for metric, area in (("cpr", lambda f: f), ("cmd", lambda f: np.abs(1 - f))):
            value = float(np.trapezoid(area(curve), sizes))
            low, high = expanded_percentiles(np.trapezoid(area(curves), sizes, axis=-1), len(set(groups)))
            found.append(Evidence("keep", task, task, control, metric, value, None, float(low), float(high)))
    return found
