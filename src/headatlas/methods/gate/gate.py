"""Causal head gating: gates learned on a frozen model, once urged to stay open and once to close."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from headatlas.atlas.declarations import Measure, MethodInfo, Role
from headatlas.errors import UsageError, unknown
from headatlas.methods.base import Measured
from headatlas.methods.gate.settings import FitSettings
from headatlas.run.settings import check_baseline, check_metric

if TYPE_CHECKING:
    from headatlas.run.context import RunContext
    from headatlas.run.work import Step

# The sign of lambda in each stage: the loss has -lambda * mean(logit), so a positive lambda rewards open gates.
STAGES = {"base": 0, "plus": 1, "minus": -1}
# Lambda, by kind of gates. A head holds a role if it is worth 2 * clamp * lambda / heads nats of the answer tokens.
PENALTIES = {"binary": 0.3, "paper": 0.1}


def check_stage(stage: str, penalty: float) -> None:
    """Refuse a lambda whose sign belongs to another stage: with it the roles would be named the wrong way round."""
    if stage not in STAGES:
        raise unknown("stage", stage, STAGES)
    if np.sign(penalty) != STAGES[stage]:
        wanted = {0: "exactly 0", 1: "more than 0 (it rewards open gates)", -1: "less than 0 (it rewards closed gates)"}
        raise UsageError(
            f"penalty = {penalty:g} was given for the stage {stage!r}; it must be {wanted[STAGES[stage]]}."
        )


def _gate(name: str, meaning: str, role: Role | None = None) -> Measure:
    return Measure(name=name, meaning=meaning, unit="", zero_to_one=True, role=role)


@dataclass(frozen=True, kw_only=True)
class Gate(FitSettings):
    """Causal Head Gating (Nam et al., arXiv 2505.13737), with gates that are open or closed.

    The loss is the mean negative log-likelihood of the answer tokens minus lambda times the mean of the logits clamped
    to +-`clamp`; it is fitted with +lambda (`gate_plus`) and with -lambda (`gate_minus`). Facilitation = G-,
    interference = 1 - G+, irrelevance = G+ (1 - G-). With `gates` "paper" gates scale heads, and both fits set out from
    one with lambda = 0. Lambda is `penalty`; where it is None, 0.3 for binary gates and 0.1 for those of the paper.

    `metric` "margin" fits the likelihood of the answer among answer and foil; `baseline` is what a closed gate lets in,
    such as "twin". None is the paper's choice: the likelihood of the answer, and zero.

    Fitted on `fit`, stopped by `choose`; the finished masks are scored on `evaluate`, as fitted and binarised at 0.5.
    Roles are to be read only where binarised masks cost at most `holds` nats more than fitted ones, on average over
    the seeds and by the upper end of a paired interval; a binarised `gate_minus` is sufficient if it costs at most
    `sufficient` nats more than the full model, by the same rule. `stability` fits the first seed again from another
    mean of the start and with twice the steps, and counts the heads that change their role.

    `tasks` are those to fit where the suite has them, all when empty. A fit has no sampling error: standard errors and
    p-values are missing, and seeds show how much is a matter of the start.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        name="gate",
        title="Causal head gating",
        summary="learns a gate per head and says which heads facilitate, interfere or are irrelevant",
        meaning="The role of a head in gates learned for the task: from 0 to 1, without a sampling error. Seeds are "
        "independent starts; they show how much of a role is chance.",
        kind="role",
        measures=(
            _gate("facilitation", "the head stays open though it is urged to close: the task needs it", "helps"),
            _gate("interference", "the head closes though it is urged to open: it harms the task", "hurts"),
            _gate("irrelevance", "the head does as it is urged: it does not matter", "none"),
            _gate("gate_plus", "the gate urged to open is open"),
            _gate("gate_minus", "the gate urged to close is open"),
        ),
        primary="facilitation",
        support="always",
        evidence_from="gates learned on fit examples",
        most_tasks={"quick": 2},
        figures=("roles", "role_maps", "role_distributions", "gate_curves"),
    )
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "quick": {"seeds": 3, "steps": 24, "batch": 3, "noise": 0.5, "check": 12, "held": 16},
        "standard": {"seeds": 5, "stability": True},
        "paper": {"seeds": 10, "stability": True},
    }
    penalty: float | None = None
    metric: str | None = None
    baseline: str | None = None
    tasks: tuple[str, ...] = ()
    sufficient: float = 0.1
    holds: float = 0.1
    stability: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_stage("plus", self.strength)
        check_metric(self.metric)
        check_baseline(self.baseline)

    @property
    def strength(self) -> float:
        """Lambda."""
        return PENALTIES[self.gates] if self.penalty is None else self.penalty

    @property
    def stages(self) -> tuple[str, ...]:
        """In the order of their fits."""
        return tuple(STAGES) if self.gates == "paper" else ("plus", "minus")

    def work(self, context: RunContext) -> list[Step]:
        from headatlas.methods.gate.work import gate_steps

        return gate_steps(self, context, self._tasks(context))

    def measure(self, context: RunContext) -> Measured:
        from headatlas.methods.gate.report import reports
        from headatlas.methods.gate.stability import other_fits
        from headatlas.methods.gate.stages import fit_stages

        tasks = self._tasks(context)
        fits = fit_stages(self, context, tasks)
        parts = reports(self, context, fits, other_fits(self, context, tasks))
        return Measured(
            [head_map for part in parts for head_map in part.maps],
            [entry for part in parts for entry in part.diagnostics],
            {task: quantity for part in parts for task, quantity in part.quantities.items()},
            {task: doubt for part in parts for task, doubt in part.doubts.items()},
        )

    def _tasks(self, context: RunContext) -> list[str]:
        """A task that was skipped as too hard is not replaced by another."""
        return [task for task in context.tasks if not self.tasks or task in self.tasks]
