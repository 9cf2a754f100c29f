"""Remove the heads a map calls important: does the task suffer more than from other heads of the same layers?"""

from __future__ import annotations

from collections.abc import Sequence

from headatlas.evidence.choice import Heads
from headatlas.evidence.trial import Evidence, Trial, changes
from headatlas.stats import Array, bootstrap_mean

INTACT: Heads = frozenset()
Planned = tuple[str, int | None, int | None, Heads]  # control, k, draw, the heads that are removed


def mask(trial: Trial) -> list[Evidence]:
    """For every task and k: the top heads, the lowest, and random ones matched by layer; p of the top among these."""
    plan: dict[str, list[Planned]] = {}
    for task in trial.tasks:
        ranking = trial.rankings[task]
        plan[task] = [("intact", None, None, INTACT)]
        for k in trial.ks(task):
            plan[task] += [("top", k, None, ranking.top(k)), ("lowest", k, None, ranking.lowest(k))]
            drawn = trial.draws(task, k, trial.settings.draws)
            plan[task] += [("random", k, draw, heads) for draw, heads in enumerate(drawn)]
    outcomes = trial.remove("Mask", {task: [heads for *_, heads in own] for task, own in plan.items()})
    found = []
    for task, own in plan.items():
        outcome, groups = outcomes[task], trial.groups(task)
        for metric, (values, level, low, high) in changes(outcome, outcome[:1], groups).items():
            for i, (control, size, draw, _) in enumerate(own[1:], start=1):
                row = (metric, float(values[i]), level, float(low[i]), float(high[i]), size, draw)
                found.append(Evidence("mask", task, task, control, *row))
        for k in trial.ks(task):
            found += _against_random(task, k, own, outcome.logprob, groups)
    return found


def _against_random(task: str, k: int, own: Sequence[Planned], logprob: Array, groups: list[str]) -> list[Evidence]:
    """Where the top heads stand among the random draws, and how far they are from their mean."""
    top = next(i for i, (control, size, *_) in enumerate(own) if (control, size) == ("top", k))
    drawn = [i for i, (control, size, *_) in enumerate(own) if (control, size) == ("random", k)]
    if not drawn:
        return []
    means = logprob.mean(1)
    p = (1 + sum(means[i] <= means[top] for i in drawn)) / (1 + len(drawn))
    difference = logprob[top] - logprob[drawn].mean(0)
    low, high = bootstrap_mean(difference, groups)
    return [
        Evidence("mask", task, task, "top", "p_value", float(p), k=k),
        Evidence(
            "mask", task, task, "top minus random", "logprob", float(difference.mean()), 0.0, float(low), float(high), k
        ),
    ]
