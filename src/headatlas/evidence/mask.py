"""Remove the heads a map calls important: does the task suffer more than from other heads of the same layers?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from headatlas.atlas.declarations import Control, TestInfo
from headatlas.atlas.records import Evidence
from headatlas.evidence.base import EvidenceTest
from headatlas.evidence.choice import INTACT, Heads
from headatlas.run.outcomes import Outcome
from headatlas.stats import bootstrap_mean

if TYPE_CHECKING:
    from headatlas.evidence.trial import Trial

Planned = tuple[str, int | None, int | None, Heads]  # control, k, draw, the heads that are removed


class Mask(EvidenceTest):
    """For every task and k: the top heads, the lowest, and random ones matched by layer; p of the top among these."""

    info: ClassVar[TestInfo] = TestInfo(
        name="mask",
        title="Without the heads",
        summary="removes the heads of a map, against random heads of the same layers",
        question="Does a task lose more without the heads of its map than without other heads of the same layers?",
        shape="curve",
        axis="heads removed",
        controls=(
            Control(name="top", meaning="the first heads of the map"),
            Control(name="random", meaning="as many random heads of the same layers"),
            Control(name="lowest", meaning="the heads with the smallest values"),
        ),
        figures=("mask", "mask_accuracy"),
    )

    def run(self, trial: Trial) -> list[Evidence]:
        plans: dict[str, list[Planned]] = {}
        for task in trial.tasks:
            ranking = trial.rankings[task]
            plans[task] = [("intact", None, None, INTACT)]
            for k in trial.ks(task):
                plans[task] += [("top", k, None, ranking.top(k)), ("lowest", k, None, ranking.lowest(k))]
                drawn = trial.draws(task, k, trial.settings.draws)
                plans[task] += [("random", k, draw, heads) for draw, heads in enumerate(drawn)]
        outcomes = trial.remove("Mask", {task: [heads for *_, heads in plan] for task, plan in plans.items()})
        rows: list[Evidence] = []
        for task, plan in plans.items():
            outcome, groups = outcomes[task], trial.groups(task)
            planned = [(task, {"control": control, "k": k, "draw": draw}) for control, k, draw, _ in plan[1:]]
            rows += self.level_rows(outcome, groups, task, planned)
            rows += self._against_random(task, plan, outcome, groups)
        return rows

    def _against_random(
        self, task: str, plan: Sequence[Planned], outcome: Outcome, groups: list[str]
    ) -> Iterator[Evidence]:
        """How far the top heads of each k are from the mean of the random draws; p is their rank among them."""
        for metric, values in outcome.metrics.items():
            if metric == "accuracy":  # too coarse for a rank among draws
                continue
            means = values.mean(1)
            for k, top, drawn in _comparisons(plan):
                p_value = (1 + sum(means[i] <= means[top] for i in drawn)) / (1 + len(drawn))
                difference = values[top] - values[drawn].mean(0)
                low, high = bootstrap_mean(difference, groups)
                yield self.row(
                    task, task, "top", metric, float(difference.mean()), 0.0, float(low), float(high), k,
                    compared_with="random", p_value=float(p_value),
                )  # fmt: skip


def _comparisons(plan: Sequence[Planned]) -> Iterator[tuple[int, int, list[int]]]:
    """(k, index of the top heads, indices of the random draws) for every k that has draws."""
    for top, (control, k, _, _) in enumerate(plan):
        drawn = [i for i, (other, size, *_) in enumerate(plan) if (other, size) == ("random", k)]
        if control == "top" and k is not None and drawn:
            yield k, top, drawn
