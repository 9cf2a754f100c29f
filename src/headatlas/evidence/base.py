"""What an evidence test is: a declaration, and one verb that turns a trial into rows of evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from headatlas.atlas.declarations import TestInfo
from headatlas.atlas.records import Evidence
from headatlas.intervals import set_interval, too_few
from headatlas.run.outcomes import Outcome, levels
from headatlas.stats import Array, q_values

if TYPE_CHECKING:
    from headatlas.evidence.trial import Trial

SPLIT = "evaluate"  # had no part in making a map


@dataclass(frozen=True)
class TestSettings:
    """How much is tested. `ks` are numbers of heads; `k` the one where a single number is needed."""

    __test__: ClassVar[bool] = False  # pytest must not take it for a test case

    ks: tuple[int, ...]
    k: int
    draws: int  # random sets of heads, matched by layer; p cannot be smaller than 1 / (1 + draws)
    few_draws: int  # the same, in tests that cost more
    sizes: tuple[int, ...]  # of circuits that are kept
    examples: int | None  # per task; all of the split when None
    chains: int | None
    strengths: tuple[float, ...] = (1.0, 2.0, 5.0, 10.0)  # of steering
    scales: tuple[float, ...] = (0.5, 1.5, 2.0)  # of heads
    baseline: str = "mean"
    distractors: bool = True
    elbow: bool = True  # also test as many heads as lie before the elbow of each map
    seed: int = 0


class EvidenceTest:
    """The base class of evidence tests. Modules that define tests import torch only inside `run`."""

    info: ClassVar[TestInfo]

    def run(self, trial: Trial) -> list[Evidence]:
        """Intervene, and report what it did to the held-out examples of the trial."""
        raise NotImplementedError

    def row(self, *columns: Any, **more: Any) -> Evidence:
        return Evidence(self.info.name, *columns, **more)

    def level_rows(
        self,
        outcome: Outcome,
        groups: Sequence[str],
        eval_task: str,
        interventions: Sequence[tuple[str, dict[str, Any]]],
    ) -> Iterator[Evidence]:
        """One row per metric and intervention: its mean, the intact mean, and the interval of the paired change (none
        with too few groups, and the remark says so).

        The first outcome is that of the intact model; each of the others has a task and further columns.
        """
        for metric, level in levels(outcome, outcome[:1], groups).items():
            for i, (task, columns) in enumerate(interventions, start=1):
                yield self.row(
                    task,
                    eval_task,
                    metric=metric,
                    value=float(level.means[i]),
                    intact=level.intact,
                    low=float(level.low[i]),
                    high=float(level.high[i]),
                    groups=len(set(groups)),
                    remark=too_few(groups),
                    **columns,
                )

    def against_sets(
        self,
        metrics: Mapping[str, Array],
        groups: Sequence[str],
        chosen: int,
        others: Sequence[int],
        better: Literal["less", "more"] | None,
        **columns: Any,
    ) -> Iterator[Evidence]:
        """One row per metric [intervention, example]: one intervention less the mean of `others`, which are as many
        samples of what it is compared with. `p_value` is its rank among them, where less or more is `better` for the
        claim; accuracies are too coarse for it.
        """
        remark = too_few(groups, len(others))
        for metric, values in metrics.items() if others else ():
            is_share = metric == "accuracy"
            low, high = set_interval(values[chosen], values[list(others)], groups, is_share)
            ranked = better is not None and not is_share and not too_few(groups)
            yield self.row(
                metric=metric,
                value=float(values[chosen].mean() - values[list(others)].mean()),
                intact=0.0,
                low=low,
                high=high,
                p_value=_rank(values.mean(1), chosen, others, better == "less") if ranked else None,
                groups=len(set(groups)),
                remark=remark,
                **columns,
            )


def _rank(means: Array, chosen: int, others: Sequence[int], less: bool) -> float:
    """The share of samples, the chosen one among them, that are at least as extreme."""
    sign = 1 if less else -1
    extreme = int((sign * means[list(others)] <= sign * means[chosen]).sum())
    return (1 + extreme) / (1 + len(others))


def with_q_values(rows: Sequence[Evidence]) -> list[Evidence]:
    """The rows of one test; p-values of a metric are corrected together, over all tasks, numbers of heads and
    comparisons (Benjamini-Hochberg)."""
    adjusted = list(rows)
    for metric in {row.metric for row in rows}:
        family = [i for i, row in enumerate(rows) if row.metric == metric and row.p_value is not None]
        for i, q in zip(family, q_values(np.array([rows[i].p_value for i in family])), strict=True):
            adjusted[i] = replace(rows[i], q_value=float(q))
    return adjusted
