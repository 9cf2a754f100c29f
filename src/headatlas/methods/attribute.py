"""Attribution: a first-order estimate of every head's ablation effect, in one forward and one backward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from headatlas.atlas.declarations import Measure, MethodInfo
from headatlas.methods.base import Measured, Method, effect_map
from headatlas.run.cells import CellKind
from headatlas.run.settings import check_baseline
from headatlas.stats import Array

if TYPE_CHECKING:
    from headatlas.run.batches import Batch
    from headatlas.run.cells import Cell
    from headatlas.run.context import RunContext

ATTRIBUTION = CellKind("attribution")
SPLIT = "fit"


@dataclass(frozen=True)
class Attribute(Method):
    """Gradient times activation of the answer's log-probability (Michel et al. 2019; attribution patching, Nanda 2023).

    With a gate g on a head, z' = g z + (1 - g) b. At g = 1, d log p / dg is the sum over positions of
    (z - b) . d log p / dz: to first order, what the answer would lose if the head were replaced by its baseline b.
    Positive heads help the answer. Measured on `fit`.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        name="attribute",
        title="Attribution",
        summary="estimates the effect of removing each head from one gradient",
        meaning="What the log-probability of the answer would lose without the head, to first order. An estimate: "
        "where attention is saturated it can be wrong, even in its sign.",
        kind="importance",
        measures=(Measure(name="importance", meaning="the head helps the answer", unit="nats"),),
        primary="importance",
        priority=1,
    )
    baseline: str = "mean"

    def __post_init__(self) -> None:
        check_baseline(self.baseline)

    def measure(self, context: RunContext) -> Measured:
        effects = self.effects(context)
        return Measured(
            [
                effect_map(self.info, task, context.heads, task_effects, context.groups(task, SPLIT))
                for task, task_effects in effects.items()
            ]
        )

    def effects(self, context: RunContext) -> dict[str, Array]:
        """Per task, per example: the estimated effect of each head [example, layer * head]."""
        from headatlas.run.baselines import Baselines
        from headatlas.run.interventions import gate_gradient

        baselines = Baselines(self.baseline, context)

        def cell(task: str, batch: Batch) -> Cell:
            return context.cell(
                ATTRIBUTION,
                lambda: {"effects": gate_gradient(context.model, batch, baselines.for_batch(task, batch))},
                2 * batch.ids.numel(),  # the backward through frozen weights costs about as much as the forward
                batch=batch.key,
                baseline=baselines.inputs(task),
            )

        cells = {task: [cell(task, batch) for batch in context.batches(task, SPLIT)] for task in context.tasks}
        return context.run_by_batch("Attribution", SPLIT, cells, "effects")
