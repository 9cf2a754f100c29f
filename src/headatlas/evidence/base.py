"""What an evidence test is: a declaration, and one verb that turns a trial into rows of evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from headatlas.atlas.declarations import TestInfo
from headatlas.atlas.records import Evidence
from headatlas.run.outcomes import Outcome, levels

if TYPE_CHECKING:
    from headatlas.evidence.trial import Trial

SPLIT = "evaluate"  # had no part in making a map


@dataclass(frozen=True)
class TestSettings:
    """How much is tested. `ks` are numbers of heads; `k` the one where a single number is needed."""

    __test__: ClassVar[bool] = False  # pytest must not take it for a test case

    ks: tuple[int, ...]
    k: int
    draws: int  # random sets of heads, matched by layer
    few_draws: int  # the same, in tests that cost more
    sizes: tuple[int, ...]  # of circuits that are kept
    examples: int | None  # per task; all of the split when None
    chains: int | None
    strengths: tuple[float, ...] = (1.0, 2.0, 5.0, 10.0)  # of steering
    scales: tuple[float, ...] = (0.5, 1.5, 2.0)  # of heads
    baseline: str = "mean"
    distractors: bool = True
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
        """One row per metric and intervention: its mean, the intact mean, and the interval of the paired change.

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
                    **columns,
                )
