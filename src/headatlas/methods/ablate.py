"""Ablation: the certified causal effect of every head, and what each head is specifically for.

Attribution estimates the effect on all examples of `choose`; some of them are measured exactly, for every head, and
correct the estimate without bias.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from headatlas.atlas.declarations import Measure, MethodInfo
from headatlas.atlas.records import Diagnostic, HeadMap
from headatlas.errors import UsageError
from headatlas.methods.attribute import describe
from headatlas.methods.base import Measured, Method
from headatlas.methods.certify import Certified, certify, certify_all, draw_examples
from headatlas.methods.effects import attributed_effects, exact_effects
from headatlas.methods.specific import shares, specific
from headatlas.run.settings import check_baseline, check_metric
from headatlas.stats import Array

if TYPE_CHECKING:
    from headatlas.run.context import RunContext
    from headatlas.run.quantity import TaskQuantity

SPLIT = "choose"
FEWEST_EXACT = 4  # turns; with fewer no error can be estimated
ALL = 0  # of `exact`: every example is measured


@dataclass(frozen=True)
class Ablate(Method):
    """What a task loses when one head is replaced, with an interval from exact measurements.

    `metric` is the margin of the answer over the foil, or the log-probability of the answer; `baseline` is the head's z
    on the twin's prompt, on a lent twin (pair), its mean, zero or that of another example. By default both follow from
    what the examples of a task have. `exact` examples are drawn to be measured exactly for every head, in proportion to
    the size of their attributions; 0 measures all.

    `share` is the effect over the sum of the task's positive effects; `specific` the share less the mean share of the
    same head over the other tasks.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        name="ablate",
        title="Certified ablation",
        summary="measures what each task needs each head for, exactly on some examples and estimated on all",
        meaning="What the task loses when the head does as on the twin (or at its baseline), certified by exact "
        "measurements. One head at a time: heads that can replace each other are understated.",
        kind="importance",
        measures=(
            Measure(name="needed", meaning="the task loses when the head is replaced", unit="nats"),
            Measure(
                name="share", meaning="the head's part of all positive effects of the task", unit="of positive effects"
            ),
            Measure(
                name="specific",
                meaning="the head is for this task more than for the others",
                unit="difference of shares",
            ),
        ),
        primary="needed",
        priority=4,
        figures=("atlas",),
    )
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "quick": {"exact": 6},
        "standard": {"exact": 12},
        "paper": {"exact": ALL},
    }
    metric: str | None = None
    baseline: str | None = None
    exact: int = 8
    seed: int = 0

    def __post_init__(self) -> None:
        check_metric(self.metric)
        check_baseline(self.baseline)
        if self.exact != ALL and self.exact < FEWEST_EXACT:
            raise UsageError(
                f"exact = {self.exact} was asked for; an error needs at least {FEWEST_EXACT} exact examples, or 0 for "
                "all of them."
            )

    def measure(self, context: RunContext) -> Measured:
        from headatlas.run.quantity import plan_quantity

        quantities = {
            task: plan_quantity(context, task, SPLIT, self.metric, self.baseline, self.seed) for task in context.tasks
        }
        certified = self._certified(quantities)
        maps = [self._map(context, task, "needed", result) for task, result in certified.items()]
        task_shares = {task: shares(result) for task, result in certified.items()}
        maps += [self._map(context, task, "share", result) for task, result in task_shares.items()]
        if len(task_shares) > 1:
            maps += [self._map(context, task, "specific", result) for task, result in specific(task_shares).items()]
        entries = [entry for task, q in quantities.items() for entry in self._entries(q, certified[task])]
        return Measured(maps, entries, {task: q.record for task, q in quantities.items()})

    def _certified(self, quantities: dict[str, TaskQuantity]) -> dict[str, Certified]:
        heads = next(iter(quantities.values())).context.heads
        if self.exact == ALL:
            exact = exact_effects("Exact effects", quantities, heads)
            return {task: certify_all(effects, quantities[task].groups) for task, effects in exact.items()}
        attributed = attributed_effects("Attribution", quantities)
        draws = {
            task: draw_examples(effects, self.exact, np.random.default_rng([self.seed, i]))
            for i, (task, effects) in enumerate(attributed.items())
        }
        drawn = {task: quantities[task].only(draw.examples.tolist()) for task, draw in draws.items()}
        exact = exact_effects("Exact effects", drawn, heads)
        return {
            task: certify(attributed[task], exact[task], draws[task], quantities[task].groups) for task in quantities
        }

    def _map(self, context: RunContext, task: str, measure: str, result: Certified) -> HeadMap:
        return HeadMap(self.info.name, measure, task, 0, context.heads, result.summary)

    def _entries(self, quantity: TaskQuantity, result: Certified) -> list[Diagnostic]:
        """How far the certificate can be trusted, beside the map."""

        def entry(metric: str, value: float) -> Diagnostic:
            return Diagnostic(self.info.name, metric, float(value), quantity.task)

        strongest = np.argsort(-np.abs(result.summary.mean))[:30]
        return [
            *describe(self.info.name, quantity),
            entry("examples exact", result.exact),
            entry("variance left", _median(result.variance_left)),
            entry("variance left, 30 largest", _median(result.variance_left[strongest])),
            entry("same sign, 30 largest", float(np.mean(result.same_sign[strongest]))),
        ]


def _median(values: Array) -> float:
    return float(np.nanmedian(values)) if np.isfinite(values).any() else float("nan")
