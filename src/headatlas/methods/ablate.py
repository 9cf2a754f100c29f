"""Ablation: the certified causal effect of every head, and what each head is specifically for.

Attribution estimates the effect on all examples that are not held out; some of them are measured exactly, for every
head, and correct the estimate without bias.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from headatlas.atlas.declarations import Measure, MethodInfo
from headatlas.atlas.records import Diagnostic, HeadMap
from headatlas.errors import UsageError
from headatlas.methods.attribute import describe, mirrored, plan_tasks, say_left_out
from headatlas.methods.base import Measured, Method
from headatlas.methods.certify import Certified, negative
from headatlas.methods.effects import kv_groups, single_heads
from headatlas.methods.measurements import Measurements, measure_all
from headatlas.methods.race import Race, measure_in_race, race_entries
from headatlas.methods.rounds import SECOND_SHARE, measure_in_rounds
from headatlas.methods.specific import shares, specific
from headatlas.methods.stability import example_noise, halves, stability
from headatlas.run.settings import check_baseline, check_metric
from headatlas.stats import Array, overlap, rank_correlation
from headatlas.suites.suite import MAPPED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from headatlas.methods.effects import Quantities
    from headatlas.run.context import RunContext
    from headatlas.run.interventions import Unit
    from headatlas.run.quantity import TaskQuantity
    from headatlas.run.work import Step

TOP = 16  # heads whose return from the other half of the examples is counted
FEWEST_EXACT = 4  # turns; with fewer no error can be estimated
ALL: Literal["all"] = "all"  # of `exact`: every example is measured


@dataclass(frozen=True)
class Ablate(Method):
    """What a task loses when one head is replaced, with an interval from exact measurements.

    `metric` is the margin of the answer over the foil, or the log-probability of the answer; `baseline` is the head's z
    on the twin's prompt, on a lent twin (pair), its mean, zero or that of another example. By default both follow from
    what the examples of a task have. `exact` examples are drawn to be measured exactly for every head, more often where
    attributions are large and measuring costs little, and four times as many for the fifth of the heads that may matter
    most. The strongest heads, a share `thorough` of all, are measured on twelve times as many draws if attribution
    predicts them badly, or on every example where there are no more than that. "all" measures everything. `enough` also
    asks what the twin gains with the head of the prompt.

    With `top`, heads race instead (`race.py`): exact measurements go where they decide which `top` heads have the
    largest effects, until that is settled with probability `confidence` in each task, or until the share `budget` of
    all exact effects is spent. It allows each head `odd` unseen examples on which attribution is far off. Groups
    that share keys and values are then measured on `exact` examples only.

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
                name="kv_needed",
                meaning="the task loses when all heads that share this one's keys and values are replaced",
                unit="nats",
            ),
            Measure(name="enough", meaning="the twin gains when the head does as on the prompt", unit="nats"),
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
        turn=2,
        evidence_from="exact effects on fit and choose examples",
        figures=("atlas",),
    )
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "quick": {"exact": 4, "enough": False},
        "standard": {"exact": 8},
        "paper": {"exact": ALL},
    }
    metric: str | None = None
    baseline: str | None = None
    exact: int | Literal["all"] = 8
    thorough: float = 0.1
    enough: bool = True
    top: int | None = None
    confidence: float = 0.95
    budget: float = 0.2
    odd: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        check_metric(self.metric)
        check_baseline(self.baseline)
        if self.exact != ALL and not (isinstance(self.exact, int) and self.exact >= FEWEST_EXACT):
            raise UsageError(
                f"exact = {self.exact} was asked for; an error needs at least {FEWEST_EXACT} exact examples, or 'all' "
                "of them."
            )
        if not 0 <= self.thorough <= SECOND_SHARE:
            raise UsageError(
                f"thorough = {self.thorough} was asked for; give a share of the heads, from 0 to {SECOND_SHARE}."
            )
        self._check_race()

    def _check_race(self) -> None:
        if self.top is not None and self.top < 1:
            raise UsageError(f"top = {self.top} was asked for; give a number of heads, at least 1.")
        if not 0.5 <= self.confidence < 1:
            raise UsageError(
                f"confidence = {self.confidence} was asked for; give a probability from 0.5 to below 1, such as 0.95."
            )
        if not 0 < self.budget <= 1:
            raise UsageError(f"budget = {self.budget} was asked for; give a share of all exact effects, up to 1.")
        if self.odd < 1:
            raise UsageError(f"odd = {self.odd} was asked for; give a number of examples, at least 1.")
        if self.top is not None and self.exact == ALL:
            raise UsageError(
                f"top = {self.top} and exact = all were asked for; all exact effects settle every rank, so leave out "
                "top, or give exact a number of examples."
            )

    def check_examples(self, context: RunContext) -> None:
        if self.top is not None and self.top > len(context.heads):
            raise UsageError(
                f"top = {self.top} was asked for, but the model has {len(context.heads)} heads; give a smaller number."
            )
        quantities = plan_tasks(context, MAPPED, self.metric, self.baseline, self.seed)
        if race := self._race(context):
            for task, quantity in quantities.items():
                self._check_first_round(race, task, len(quantity.items))

    def _check_first_round(self, race: Race, task: str, examples: int) -> None:
        """A race whose first round alone spends the budget settles nothing."""
        if examples and race.turns >= race.budget * examples:
            raise UsageError(
                f"top = {self.top} was asked for with budget = {race.budget:g} of all exact effects, but the first "
                f"round measures every head on {race.turns} examples, and {task} has {examples} in fit and choose. "
                f"More than {floor(race.turns / race.budget)} are needed: give a larger `limit`, name tasks that have "
                "more with `tasks`, or raise ablate.budget."
            )

    def work(self, context: RunContext) -> list[Step]:
        from headatlas.methods.rehearse import exact_step, race_steps, round_steps

        quantities = plan_tasks(context, MAPPED, self.metric, self.baseline, self.seed)
        heads, groups = single_heads(context.heads), kv_groups(context.model)
        twins = mirrored(quantities)
        parts: list[tuple[str, Quantities, Quantities, tuple[list[Unit], ...]]]
        parts = [("", quantities, twins, (heads, groups))]
        parts += [(" of twins", twins, _with_twins(quantities, twins), (heads,))] if self.enough and twins else []
        steps = []
        for whose, some, mirrors, kinds in parts:
            if self.exact == ALL:
                steps.append(exact_step(f"Exact effects{whose}", some, [unit for kind in kinds for unit in kind]))
            elif not whose and (race := self._race(context)):
                steps += race_steps(whose, some, mirrors, kinds, race, self.seed)
            else:
                steps += round_steps(
                    whose, some, mirrors, kinds, self.exact, self.thorough, self.seed, both_ways=self.enough
                )
        return steps

    def measure(self, context: RunContext) -> Measured:
        quantities = plan_tasks(context, MAPPED, self.metric, self.baseline, self.seed)
        say_left_out(self.info.name, quantities)
        heads, groups = single_heads(context.heads), kv_groups(context.model)
        twins, race = mirrored(quantities), self._race(context)
        if race:
            measured = measure_in_race("", quantities, twins, (heads, groups), race, self.seed)
        else:
            measured = self._measured(quantities, twins, (heads, groups))
        each, together = range(len(heads)), range(len(heads), len(heads) + len(groups))
        needed = {task: m.certified(each) for task, m in measured.items()}
        values = {task: m.values(each) for task, m in measured.items()}
        examples = {task: [item.example for item in q.items] for task, q in quantities.items()}
        maps = [
            replace(self._map(context, task, "needed", result), noise=example_noise(values[task], examples[task]))
            for task, result in needed.items()
        ]
        if groups:
            maps += [self._kv_map(context, task, m.certified(together)) for task, m in measured.items()]
        task_shares = {task: shares(result) for task, result in needed.items()}
        maps += [self._map(context, task, "share", result) for task, result in task_shares.items()]
        if len(task_shares) > 1:
            maps += [self._map(context, task, "specific", result) for task, result in specific(task_shares).items()]
        if self.enough:
            gains = self._measured(twins, _with_twins(quantities, twins), (heads,), " of twins")
            maps += [self._map(context, task, "enough", negative(m.certified(each))) for task, m in gains.items()]
        entries = [
            entry
            for task, quantity in quantities.items()
            for entry in (
                *self._entries(quantity, needed[task], values[task], measured[task].looked[:, each]),
                *stability(self.info.name, task, values[task], examples[task], self.seed),
                *(race_entries(self.info.name, task, context.heads, measured[task], race) if race else ()),
            )
        ]
        return Measured(maps, entries, {task: q.record for task, q in quantities.items()})

    def _race(self, context: RunContext) -> Race | None:
        if self.top is None or self.exact == ALL:
            return None
        return Race(self.top, self.confidence, self.budget, self.exact, len(context.heads), self.odd)

    def _measured(
        self,
        quantities: dict[str, TaskQuantity],
        mirrors: dict[str, TaskQuantity],
        kinds: Sequence[Sequence[Unit]],
        whose: str = "",
    ) -> dict[str, Measurements]:
        if self.exact == ALL:
            return measure_all(f"Exact effects{whose}", quantities, [unit for kind in kinds for unit in kind])
        return measure_in_rounds(
            whose, quantities, mirrors, kinds, self.exact, self.thorough, self.seed, both_ways=self.enough
        )

    def _map(self, context: RunContext, task: str, measure: str, result: Certified) -> HeadMap:
        return HeadMap(self.info.name, measure, task, 0, context.heads, result.summary)

    def _kv_map(self, context: RunContext, task: str, result: Certified) -> HeadMap:
        """Every head has the value of its group."""
        group_of = np.repeat(np.arange(len(result.summary.mean)), context.model.n_heads // context.model.n_kv_heads)
        return HeadMap(self.info.name, "kv_needed", task, 0, context.heads, result.summary.take(group_of))

    def _entries(
        self, quantity: TaskQuantity, result: Certified, values: Array, looked: NDArray[np.bool_]
    ) -> list[Diagnostic]:
        """How far the certificate can be trusted; the map is the mean of `values` [example, head], and `looked` says
        where heads were looked at."""
        pairs = [(values[half].mean(0), values[~half].mean(0)) for half in halves(quantity.groups, self.seed)]

        def entry(metric: str, value: float) -> Diagnostic:
            return Diagnostic(self.info.name, metric, float(value), quantity.task)

        strongest = np.argsort(-np.abs(result.summary.mean))[:30]
        return [
            *describe(self.info.name, quantity),
            entry("examples exact", result.exact.min()),
            entry("heads exact on all", (result.exact == len(quantity.items)).sum()),
            entry("heads looked at", looked.any(0).sum()),
            entry("variance left", _median(result.variance_left)),
            entry("variance left, 30 largest", _median(result.variance_left[strongest])),
            entry("same sign, 30 largest", float(np.mean(result.same_sign[strongest]))),
            entry("half overlap", float(np.mean([_shared(*pair) for pair in pairs]))),
            entry("half correlation", float(np.mean([rank_correlation(*pair) for pair in pairs]))),
        ]


def _with_twins(quantities: dict[str, TaskQuantity], twins: dict[str, TaskQuantity]) -> dict[str, TaskQuantity]:
    """The quantities of tasks that have mirrored ones: their mirrors, seen from there."""
    return {task: quantities[task] for task in twins}


def _shared(first: Array, second: Array) -> float:
    """The share of the first heads that two maps have in common; heads below zero are not among the first."""
    return overlap(np.maximum(first, 0), np.maximum(second, 0), min(TOP, len(first) // 2))


def _median(values: Array) -> float:
    return float(np.nanmedian(values)) if np.isfinite(values).any() else float("nan")
