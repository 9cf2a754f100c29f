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
from headatlas.methods.certify import Certified, Measurements, draw_examples, negative
from headatlas.methods.effects import (
    attributed_effects,
    attributed_units,
    exact_effects,
    kv_groups,
    single_heads,
)
from headatlas.methods.specific import shares, specific
from headatlas.run.settings import TWIN_BASELINES, check_baseline, check_metric
from headatlas.stats import Array

if TYPE_CHECKING:
    from headatlas.run.context import RunContext
    from headatlas.run.interventions import Unit
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
    the size of their attributions; 0 measures all. `enough` also asks what the twin gains with the prompt's head.

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
            Measure(name="needed", meaning="the task loses when the head does as on the twin", unit="nats"),
            Measure(
                name="kv_needed",
                meaning="the task loses when all heads that share this one's keys and values do as on the twin",
                unit="nats",
            ),
            Measure(name="enough", meaning="the twin gains when the head does as on the prompt", unit="nats"),
            Measure(name="share", meaning="the head's part of all positive effects of the task", unit="share"),
            Measure(name="specific", meaning="the head is for this task more than for the others", unit="share"),
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
    enough: bool = True
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
        needed, together = self._certified(quantities, kv_groups(context.model))
        maps = [self._map(context, task, "needed", result) for task, result in needed.items()]
        maps += [self._kv_map(context, task, result) for task, result in together.items()]
        task_shares = {task: shares(result) for task, result in needed.items()}
        maps += [self._map(context, task, "share", result) for task, result in task_shares.items()]
        if len(task_shares) > 1:
            maps += [self._map(context, task, "specific", result) for task, result in specific(task_shares).items()]
        if self.enough:
            mirrored = {task: q.mirrored() for task, q in quantities.items() if q.baseline in TWIN_BASELINES}
            enough, _ = self._certified(mirrored, [], ", in twins")
            maps += [self._map(context, task, "enough", negative(result)) for task, result in enough.items()]
        entries = [entry for task, q in quantities.items() for entry in self._entries(q, needed[task])]
        return Measured(maps, entries)

    def _certified(
        self, quantities: dict[str, TaskQuantity], groups: list[Unit], where: str = ""
    ) -> tuple[dict[str, Certified], dict[str, Certified]]:
        """The certified effects of all heads by task, and those of groups of heads (of none where none are given)."""
        if not quantities:
            return {}, {}
        context = next(iter(quantities.values())).context
        units = [*single_heads(context.heads), *groups]
        if self.exact == ALL:
            effects = exact_effects(f"Exact effects{where}", quantities, units)
            measured = {task: Measurements(exact, quantities[task].groups) for task, exact in effects.items()}
        else:
            attributed = attributed_effects(f"Attribution{where}", quantities)
            draws = {
                task: draw_examples(effects, self.exact, np.random.default_rng([self.seed, i]))
                for i, (task, effects) in enumerate(attributed.items())
            }
            drawn = {task: quantities[task].only(draw.examples.tolist()) for task, draw in draws.items()}
            effects = exact_effects(f"Exact effects{where}", drawn, units)
            measured = {
                task: Measurements(
                    effects[task],
                    quantities[task].groups,
                    attributed_units(attributed[task], units, context.model.shape),
                    draws[task],
                )
                for task in quantities
            }
        heads, rest = slice(len(context.heads)), slice(len(context.heads), None)
        return (
            {task: m.certified(heads) for task, m in measured.items()},
            {task: m.certified(rest) for task, m in measured.items() if groups},
        )

    def _map(self, context: RunContext, task: str, measure: str, result: Certified) -> HeadMap:
        return HeadMap(self.info.name, measure, task, 0, context.heads, result.summary)

    def _kv_map(self, context: RunContext, task: str, result: Certified) -> HeadMap:
        """Every head has the value of its group."""
        group_of = np.repeat(np.arange(len(result.summary.mean)), context.model.n_heads // context.model.n_kv_heads)
        return HeadMap(self.info.name, "kv_needed", task, 0, context.heads, result.summary.take(group_of))

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
