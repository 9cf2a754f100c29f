"""Keep only the heads a map calls important: how much of the task do they carry by themselves?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from headatlas.atlas.declarations import Control, TestInfo
from headatlas.atlas.records import Evidence
from headatlas.evidence.base import EvidenceTest
from headatlas.evidence.choice import Heads
from headatlas.stats import Array, expanded_percentiles, resamples

if TYPE_CHECKING:
    from headatlas.evidence.trial import Trial

Circuit = tuple[str, int | None, Heads]  # control, draw, the heads that are kept

SMALLEST = 0.05  # nats between the intact model and one without heads; below that a fraction of it means nothing


class Keep(EvidenceTest):
    """All heads but the top k are replaced by their baseline, for circuits of several sizes; and random circuits.

    f = (m(C) - m(0)) / (m(N) - m(0)): 0 without any head, 1 with all (MIB); m is the margin where a task has one,
    otherwise the log-probability of the answer. CPR is the area under f over the share of heads
    kept, CMD the area of |1 - f|.
    """

    info: ClassVar[TestInfo] = TestInfo(
        name="keep",
        title="With these heads alone",
        summary="keeps only the heads of a map and replaces all others",
        question="How much of a task do the heads of its map carry by themselves?",
        shape="recovery",
        axis="heads kept",
        headline="fraction",
        controls=(
            Control(name="top", meaning="the first heads of the map"),
            Control(name="random", meaning="as many random heads of the same layers"),
            Control(name="none", meaning="no head at all"),
        ),
        figures=("keep",),
    )

    def run(self, trial: Trial) -> list[Evidence]:
        every = frozenset(trial.context.heads)
        plans = {task: _circuits(trial, task) for task in trial.tasks}
        outcomes = trial.remove("Keep", {task: [every - kept for *_, kept in plan] for task, plan in plans.items()})
        rows: list[Evidence] = []
        for task, plan in plans.items():
            outcome, groups = outcomes[task], trial.groups(task)
            planned = [(task, {"control": control, "k": len(kept), "draw": draw}) for control, draw, kept in plan[1:]]
            rows += self.level_rows(outcome, groups, task, planned)
            if outcome.nats[0].mean() - outcome.nats[1].mean() < SMALLEST:
                trial.context.say(
                    f"{task}: the model loses almost nothing without any head, so no recovered fraction is given."
                )
                continue
            rows += self.fractions(task, plan, outcome.nats, groups, len(every))
        return rows

    def fractions(
        self, task: str, plan: list[Circuit], values: Array, groups: list[str], heads: int
    ) -> Iterator[Evidence]:
        """Fractions and areas from margins or log-probabilities [circuit, example]; the plan begins with all heads and
        none."""
        weights = resamples(groups)
        resampled = (weights / weights.sum(1, keepdims=True)) @ values.T  # [draw, circuit]

        def recovered(means: Array) -> Array:
            return (means - means[..., 1:2]) / (means[..., :1] - means[..., 1:2])

        exact, spread = recovered(values.mean(1)), recovered(resampled)
        low, high = expanded_percentiles(spread, len(set(groups)))
        for i, (control, draw, kept) in enumerate(plan):
            if i > 1:
                yield self.row(
                    task, task, control, "fraction", float(exact[i]), 1.0, float(low[i]), float(high[i]), len(kept),
                    draw,
                )  # fmt: skip
        for control in ("top", "random"):
            circuits: dict[int, list[int]] = {}  # by size; several random circuits of one size count as their mean
            for i, (kind, _, kept) in enumerate(plan):
                if kind == control:
                    circuits.setdefault(len(kept), []).append(i)
            if not circuits:
                continue
            shares = np.array([0, *circuits, heads]) / heads
            columns = [[1], *circuits.values(), [0]]
            curve = np.stack([exact[c].mean(-1) for c in columns], -1)
            curves = np.stack([spread[:, c].mean(-1) for c in columns], -1)
            for metric, area in (("cpr", lambda f: f), ("cmd", lambda f: np.abs(1 - f))):
                value = float(np.trapezoid(area(curve), shares))
                low, high = expanded_percentiles(np.trapezoid(area(curves), shares, axis=-1), len(set(groups)))
                yield self.row(task, task, control, metric, value, None, float(low), float(high))


def _circuits(trial: Trial, task: str) -> list[Circuit]:
    """All heads, none, the top ones of each size, and random ones of the same sizes from the same layers."""
    ranking, every = trial.rankings[task], frozenset(trial.context.heads)
    plan: list[Circuit] = [("all", None, every), ("none", None, frozenset())]
    for k in trial.settings.sizes:
        # A map of some heads ranks those; larger circuits are not its claim.
        if k < len(every) and k <= len(ranking.first):
            plan.append(("top", None, ranking.top(k)))
            drawn = trial.draws(task, k, trial.settings.few_draws)
            plan += [("random", draw, heads) for draw, heads in enumerate(drawn)]
    return plan
