"""Ablation: remove one head at a time and measure what the answer loses. Exact; the reference for all other maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from headatlas.atlas.declarations import Measure, MethodInfo
from headatlas.atlas.records import Head
from headatlas.errors import UsageError
from headatlas.methods.attribute import Attribute
from headatlas.methods.base import Measured, Method, effect_map
from headatlas.run.cells import CellKind
from headatlas.run.settings import check_baseline
from headatlas.stats import Array

if TYPE_CHECKING:
    from headatlas.run.batches import Batch
    from headatlas.run.cells import Cell
    from headatlas.run.context import RunContext

ABLATION = CellKind("ablation")
SPLIT = "choose"


@dataclass(frozen=True)
class Ablate(Method):
    """Log-probability of the answer, intact minus ablated, at all positions. Positive heads help the answer.

    Of the heads that attribution on `fit` puts first in size, a `share` is ablated, and as many others at random; 1
    means every head. Effects are measured on `choose`, so that no head is tested on the examples that nominated it.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        name="ablate",
        title="Ablation",
        summary="removes one head at a time and measures what the answer loses",
        meaning="What the log-probability of the answer loses when the head is replaced by its baseline, measured "
        "exactly. One head at a time: heads that stand in for each other are understated.",
        kind="importance",
        measures=(Measure(name="importance", meaning="the head helps the answer", unit="nats"),),
        primary="importance",
        priority=2,
    )
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "quick": {"share": 0.1},
        "standard": {"share": 1.0},
        "paper": {"share": 1.0, "seeds": 5},
    }
    baseline: str = "mean"
    share: float = 1.0
    seeds: int = 1

    def __post_init__(self) -> None:
        check_baseline(self.baseline)
        if not 0 < self.share <= 1:
            raise UsageError(f"A share of {self.share} of the heads was asked for; it must be above 0 and at most 1.")

    def measure(self, context: RunContext) -> Measured:
        heads = self.nominate(context)
        # Only resampling draws anything. Its draws are averaged for every example: less noise, the same observations.
        seeds = range(self.seeds if self.baseline == "resample" else 1)
        draws = [self.effects(context, heads, seed) for seed in seeds]
        return Measured(
            [
                effect_map(
                    self.info,
                    task,
                    heads[task],
                    np.mean([draw[task] for draw in draws], 0),
                    context.groups(task, SPLIT),
                )
                for task in context.tasks
            ]
        )

    def nominate(self, context: RunContext) -> dict[str, list[Head]]:
        """The heads to ablate, by task, in order of layer."""
        if self.share == 1:
            return {task: list(context.heads) for task in context.tasks}
        nominated = {}
        for task, effects in Attribute(self.baseline).effects(context).items():
            count = max(1, round(self.share * len(context.heads)))
            order = np.argsort(-np.abs(effects.mean(0)), kind="stable")
            others = np.random.default_rng(0).permutation(order[count:])[:count]
            nominated[task] = [context.heads[i] for i in sorted([*order[:count], *others])]
        return nominated

    def effects(self, context: RunContext, heads: dict[str, list[Head]], seed: int) -> dict[str, Array]:
        """Per task, the effects of its `heads` on every example [example, head], with one draw of the baseline."""
        from headatlas.run.baselines import Baselines
        from headatlas.run.interventions import ablate_each

        model, baselines = context.model, Baselines(self.baseline, context, seed)

        def cell(task: str, batch: Batch) -> Cell:
            depth = sum(model.n_layers - layer for layer, _ in heads[task]) / model.n_layers
            return context.cell(
                ABLATION,
                lambda: {"effects": ablate_each(model, batch, heads[task], baselines.for_batch(task, batch))},
                batch.ids.numel() * (1 + depth),
                batch=batch.key,
                baseline=baselines.inputs(task),
                heads=heads[task],
            )

        cells = {task: [cell(task, batch) for batch in context.batches(task, SPLIT)] for task in context.tasks}
        return context.run_by_batch("Ablation", SPLIT, cells, "effects")
