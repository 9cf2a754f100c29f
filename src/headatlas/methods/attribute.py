"""Attribution: a first-order estimate of every head's effect, in one forward and one backward of each text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from headatlas.atlas.declarations import Measure, MethodInfo
from headatlas.atlas.records import Diagnostic, HeadMap
from headatlas.methods.base import Measured, Method
from headatlas.methods.effects import attributed_both_ways
from headatlas.methods.signs import check_signs, sign_step
from headatlas.methods.stability import example_noise, stability
from headatlas.run.settings import TWIN_BASELINES, check_baseline, check_metric
from headatlas.stats import Array, Summary, summarise

if TYPE_CHECKING:
    from headatlas.run.context import RunContext
    from headatlas.run.quantity import TaskQuantity
    from headatlas.run.work import Step

SPLITS = ("fit",)


@dataclass(frozen=True)
class Attribute(Method):
    """Gradient times activation (Michel et al. 2019; attribution patching, Nanda 2023) of what is measured.

    With a gate g on a head, z' = g z + (1 - g) b. At g = 1, dm / dg is the sum over positions of (z - b) . dm / dz: to
    first order, what m would lose if the head were replaced by its baseline b. `metric` m is the margin of the answer
    over the foil or its log-probability, `baseline` b the head's z on the twin's prompt, its mean, zero or another
    example's; by default whatever the examples of a task have. Measured on `fit`.

    A small p would be about a gradient and not about an effect, so none is given. The signs of the largest
    estimates are checked against exact measurements (`signs.py`).
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        name="attribute",
        title="Attribution",
        summary="estimates the effect of every head from one gradient",
        meaning="What the task would lose if the head did as on the twin (or at its baseline), to first order. An "
        "estimate: where attention is saturated it can be wrong, even in its sign, so it has no p-values.",
        kind="importance",
        measures=(
            Measure(name="needed", meaning="the task loses when the head is replaced", unit="nats"),
            Measure(name="enough", meaning="the twin gains when the head does as on the prompt", unit="nats"),
        ),
        primary="needed",
        priority=1,
        turn=1,
        evidence_from="gradients on fit examples",
    )
    metric: str | None = None
    baseline: str | None = None

    def __post_init__(self) -> None:
        check_metric(self.metric)
        check_baseline(self.baseline)

    def check_examples(self, context: RunContext) -> None:
        plan_tasks(context, SPLITS, self.metric, self.baseline)

    def work(self, context: RunContext) -> list[Step]:
        from headatlas.methods.rehearse import attribution_step

        quantities = plan_tasks(context, SPLITS, self.metric, self.baseline)
        return [
            attribution_step("Attribution", quantities, mirrored(quantities)),
            *(sign_step(quantity) for quantity in quantities.values()),
        ]

    def measure(self, context: RunContext) -> Measured:
        quantities = plan_tasks(context, SPLITS, self.metric, self.baseline)
        say_left_out(self.info.name, quantities)
        twins = mirrored(quantities)
        effects, losses = attributed_both_ways("Attribution", quantities, twins)
        maps = self._maps("needed", quantities, effects)
        maps += self._maps("enough", twins, {task: -of_twins for task, of_twins in losses.items()})
        entries = [entry for q in quantities.values() for entry in describe(self.info.name, q)]
        for task, quantity in quantities.items():
            entries += check_signs(self.info.name, quantity, effects[task].mean(0))
            entries += stability(self.info.name, task, effects[task], [item.example for item in quantity.items])
        return Measured(maps, entries, {task: q.record for task, q in quantities.items()})

    def _maps(self, measure: str, quantities: dict[str, TaskQuantity], effects: dict[str, Array]) -> list[HeadMap]:
        return [
            HeadMap(
                self.info.name, measure, task, 0, quantities[task].context.heads,
                without_p(summarise(task_effects, quantities[task].groups)),
                example_noise(task_effects, [item.example for item in quantities[task].items]),
            )
            for task, task_effects in effects.items()
        ]  # fmt: skip


def plan_tasks(
    context: RunContext, splits: Sequence[str], metric: str | None, baseline: str | None, seed: int = 0
) -> dict[str, TaskQuantity]:
    """What is measured of every task; refused where that cannot be."""
    from headatlas.run.quantity import plan_quantity

    return {task: plan_quantity(context, task, splits, metric, baseline, seed) for task in context.tasks}


def mirrored(quantities: Mapping[str, TaskQuantity]) -> dict[str, TaskQuantity]:
    """The same contrasts on the twins' prompts, of every task that is compared with twins."""
    return {task: quantity.mirrored() for task, quantity in quantities.items() if quantity.baseline in TWIN_BASELINES}


def say_left_out(method: str, quantities: Mapping[str, TaskQuantity]) -> None:
    """A remark for every task of which examples are left out."""
    for task, quantity in quantities.items():
        if quantity.left_out:
            left_out, every = quantity.left_out, quantity.left_out + len(quantity.items)
            quantity.context.say(
                f"{method} leaves out {left_out} of {every} examples of {task}: they have no {quantity.baseline} that "
                "can be aligned and whose answer can be compared with theirs."
            )


def without_p(summary: Summary) -> Summary:
    return replace(summary, p_value=np.full_like(summary.mean, np.nan))


def describe(method: str, quantity: TaskQuantity) -> list[Diagnostic]:
    """How many examples were measured and left out."""
    return [
        Diagnostic(method, "examples attributed", float(len(quantity.items)), quantity.task),
        Diagnostic(method, "examples left out", float(quantity.left_out), quantity.task),
    ]
