"""What an edit costs: the original and the edited model on held-out examples of every task, and on neutral text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headatlas.evidence.base import SPLIT
from headatlas.evidence.trial import Trial
from headatlas.intervals import too_few
from headatlas.run.outcomes import Outcome, levels
from headatlas.suites.neutral.generate import TASK as NEUTRAL


@dataclass(frozen=True)
class Cost:
    """A metric of one task before and after; `low` and `high` bound the change, None with too few groups."""

    task: str
    metric: str
    before: float
    after: float
    low: float | None
    high: float | None
    groups: int
    remark: str | None


def costs(before: Trial, after: Trial) -> list[Cost]:
    """Every metric of every task, neutral text last."""
    tasks = [*(task for task in before.tasks if task != NEUTRAL), NEUTRAL]
    first, second = (
        trial.intact(f"{name} model", SPLIT, tasks) for trial, name in ((before, "Original"), (after, "Edited"))
    )
    rows = []
    for task in tasks:
        groups = before.groups(task)
        both = _stacked(first[task], second[task])
        for metric, level in levels(both, both[:1], groups).items():
            low, high = (None if np.isnan(b[1]) else float(b[1] - level.intact) for b in (level.low, level.high))
            reached = float(level.means[1])
            rows.append(Cost(task, metric, level.intact, reached, low, high, len(set(groups)), too_few(groups)))
    return rows


def _stacked(first: Outcome, second: Outcome) -> Outcome:
    """Two outcomes of single examples as [2, example]."""
    margins = None if first.margin is None or second.margin is None else np.stack([first.margin, second.margin])
    return Outcome(np.stack([first.logprob, second.logprob]), np.stack([first.hit, second.hit]), margins)
