"""Random masks: many heads are removed at once, and a regression says what each of them was worth.

A randomised experiment: what else is missing when a head is removed is left to chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from headatlas.atlas.declarations import Measure, MethodInfo
from headatlas.atlas.records import Diagnostic, Head, HeadMap
from headatlas.errors import UsageError
from headatlas.methods.attribute import plan_tasks, say_left_out
from headatlas.methods.base import Measured, Method
from headatlas.methods.sense.masks import BLOCK, Masks, draw_masks
from headatlas.run.settings import check_baseline, check_metric
from headatlas.stats import Summary
from headatlas.suites.suite import MAPPED
from headatlas.wording import decimal

if TYPE_CHECKING:
    from headatlas.methods.sense.regression import Regression
    from headatlas.run.context import RunContext
    from headatlas.run.quantity import TaskQuantity
    from headatlas.run.work import Step
    from headatlas.stats import Array

LEAST_R2 = 0.1
MASKS, PER_MASK, LOSS, R2 = "masks", "heads per mask", "mean loss under masks", "held-out R2"


@dataclass(frozen=True)
class Sense(Method):
    """What a task loses without a head, averaged over random sets of other heads that are missing too.

    `masks` masks in blocks of eight; in each block every head is removed by exactly one mask, drawn independently for
    each head of each layer, so that a mask removes an eighth of the heads. A mask is tried on about `examples`
    examples. Heads go to the `baseline` of the task and its `metric` is measured, both as in `ablate`.

    The effect of a head is the loss under its masks less that under the others of the same block, after a sparse
    regression (lasso) on other blocks and other examples has predicted what the other heads do. Errors are clustered by
    block and by group of examples.

    The `pairs` heads that come first are removed one by one and two by two on `paired` examples of `choose`: what both
    cost beyond the sum of each is what they make up for each other. 0 leaves this out.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        name="sense",
        title="Random masks",
        summary="removes random sets of heads and finds by regression what each head was worth",
        meaning="What the task loses when the head does as on the twin (or at its baseline), averaged over random sets "
        "of other heads that are missing too: not the effect of the head alone.",
        kind="importance",
        measures=(
            Measure(name="needed", meaning="the task loses without the head where others are missing too", unit="nats"),
        ),
        primary="needed",
        by_default=False,
        evidence_from="random masks on fit and choose examples",
    )
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "quick": {"masks": 200},
        "standard": {"masks": 600, "paired": 24},
        "paper": {"masks": 2000, "paired": 48},
    }
    metric: str | None = None
    baseline: str | None = None
    masks: int = 200
    examples: int = 16
    pairs: int = 8
    paired: int = 12
    seed: int = 0

    def __post_init__(self) -> None:
        check_metric(self.metric)
        check_baseline(self.baseline)
        for name, least in (("masks", 5 * BLOCK), ("examples", 1), ("pairs", 0), ("paired", 4)):
            if getattr(self, name) < least:
                raise UsageError(f"{name} = {getattr(self, name)} was asked for; it must be at least {least}.")

    def check_examples(self, context: RunContext) -> None:
        plan_tasks(context, MAPPED, self.metric, self.baseline, self.seed)

    def work(self, context: RunContext) -> list[Step]:
        from headatlas.methods.sense.work import sense_steps

        return sense_steps(self, context)

    def measure(self, context: RunContext) -> Measured:
        from headatlas.methods.sense.cells import measure_losses
        from headatlas.methods.sense.regression import regress, summarise_effects

        quantities = plan_tasks(context, MAPPED, self.metric, self.baseline, self.seed)
        say_left_out(self.info.name, quantities)
        masks = self.draw(quantities)
        result = Measured([], [], {task: q.record for task, q in quantities.items()}, {})
        for task, losses in measure_losses(quantities, masks).items():
            groups = quantities[task].groups
            regression = regress(masks[task], losses, groups, self.seed)
            summary = summarise_effects(masks[task], regression.effects, groups)
            result.maps.append(HeadMap(self.info.name, "needed", task, 0, context.heads, summary))
            result.diagnostics.extend(self._entries(quantities[task], masks[task], losses, regression))
            if regression.r2 < LEAST_R2:
                result.doubts[task] = (
                    "which heads are missing says little about what unseen masks cost "
                    f"(held-out R2 {decimal(regression.r2)})"
                )
            result.diagnostics.extend(self._pairs(context, task, summary))
        return result

    def draw(self, quantities: Mapping[str, TaskQuantity]) -> dict[str, Masks]:
        """The masks of every task."""
        return {
            task: draw_masks(q.context.model.shape, len(q.items), self.masks, self.examples, self.seed)
            for task, q in quantities.items()
        }

    def _pairs(self, context: RunContext, task: str, summary: Summary) -> list[Diagnostic]:
        """Of the first heads; nothing where no head has an interval above zero. A backup need not have one: it is worth
        something only in the few masks that remove its main head too."""
        from headatlas.methods.sense.pairs import measure_pairs, pair_quantity, report_pairs

        first: list[Head] = [
            context.heads[i] for i in np.argsort(-summary.mean, kind="stable")[: self.pairs] if summary.mean[i] > 0
        ]
        if len(first) < 2 or not (summary.low > 0).any():
            return []
        return report_pairs(self.info.name, task, measure_pairs(pair_quantity(self, context, task), sorted(first)))

    def _entries(self, quantity: TaskQuantity, masks: Masks, losses: Array, regression: Regression) -> list[Diagnostic]:
        numbers = {
            MASKS: masks.count,
            PER_MASK: masks.place.shape[1] / BLOCK,
            "examples": len(quantity.items),
            "examples left out": quantity.left_out,
            "examples per mask": masks.blocks.size / len(masks.place),
            LOSS: losses.mean(),
            R2: regression.r2,
            "heads in the sparse regression": np.count_nonzero(regression.sparse),
        }
        return [Diagnostic(self.info.name, name, float(value), quantity.task) for name, value in numbers.items()]
