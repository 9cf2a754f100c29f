"""Self-repair: does the task lose more without two heads than without each of them?

One head at a time, a head with a backup looks dispensable, and the backup looks idle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from headatlas.atlas.declarations import Measure, MethodInfo
from headatlas.errors import UsageError
from headatlas.methods.base import Measured, Method
from headatlas.run.settings import SET_BASELINES, check_baseline, check_metric

if TYPE_CHECKING:
    from headatlas.run.context import RunContext
    from headatlas.run.work import Step

MOST_CANDIDATES = 7  # the map is of a few heads, too few to be compared with maps of all of them


@dataclass(frozen=True)
class Repair(Method):
    """Takeover of a head b from a head a: effect of removing both, less the effects of removing each.

    On `nominate` examples of `fit`, the gradient of every head is taken in the intact model and with one of the
    `leaders` strongest heads removed; the `candidates` whose gradient grows most are measured exactly on `measured`
    examples of `choose`, each with the leader it grew most without. A head is removed by its `baseline`, a mean unless
    given: with the twin's z a leader would still tell the others that it has done its part.

    p and q are those of a takeover of no more than a tenth of what the leader does, directly or in total: norms make
    the effects of any two heads a little more or less than their sum.

    Beside the map: of every leader its total effect and its direct effect, with all other heads held as they were; and
    the effect of leaders and candidates together beside the sum of their single effects.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        name="repair",
        title="Self-repair",
        summary="removes the strongest heads and finds those that take over",
        meaning="What the task loses without the head and one of its strongest heads together, beyond the sum of what "
        "it loses without each. Heads that were not nominated are not measured.",
        kind="role",
        measures=(
            Measure(
                name="takeover", meaning="the head takes over where a strong one is missing", unit="nats", role="backup"
            ),
        ),
        primary="takeover",
        by_default=False,
        tests=(),
    )
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "quick": {"nominate": 8, "measured": 12},
        "standard": {"leaders": 3},
        "paper": {"leaders": 3, "nominate": 48, "measured": 48},
    }
    metric: str | None = None
    baseline: str = "mean"
    leaders: int = 2
    candidates: int = 6
    nominate: int = 16
    measured: int = 24

    def __post_init__(self) -> None:
        check_metric(self.metric)
        check_baseline(self.baseline, SET_BASELINES)
        for name, least, most in (
            ("leaders", 1, None), ("candidates", 1, MOST_CANDIDATES), ("nominate", 2, None), ("measured", 4, None),
        ):  # fmt: skip
            value = getattr(self, name)
            if value < least or (most is not None and value > most):
                bounds = f"at least {least}" if most is None else f"from {least} to {most}"
                raise UsageError(f"{name} = {value} was asked for; it must be {bounds}.")

    def work(self, context: RunContext) -> list[Step]:
        from headatlas.methods.repair.work import repair_steps

        return [step for task in context.tasks for step in repair_steps(self, context, task)]

    def measure(self, context: RunContext) -> Measured:
        from headatlas.methods.repair.exact import measure_pairs
        from headatlas.methods.repair.nominate import nominate_pairs
        from headatlas.methods.repair.report import report

        pairs = {task: nominate_pairs(self, context, task) for task in context.tasks}
        reports = [report(self.info.name, measure_pairs(self, context, task, pairs[task])) for task in context.tasks]
        return Measured(
            [head_map for part in reports for head_map in part.maps],
            [entry for part in reports for entry in part.diagnostics],
        )
