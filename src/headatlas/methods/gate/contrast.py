"""Contrastive gating: one mask that keeps a task and takes another away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from headatlas.atlas.declarations import Measure, MethodInfo
from headatlas.errors import UsageError
from headatlas.methods.base import Measured
from headatlas.methods.gate.settings import FitSettings

if TYPE_CHECKING:
    from headatlas.run.context import RunContext
    from headatlas.run.work import Step


@dataclass(frozen=True, kw_only=True)
class Contrast(FitSettings):
    """Gates G that keep the likelihood of `keep` and lower that of `forget` (arXiv 2505.13737, contrastive gating).

    The loss is NLL(keep) + mean over examples of max(0, ceiling - NLL(forget)) - `penalty` * mean(clamp(logit)), where
    NLL is the mean over the tokens of an answer. The ceiling is `margin` nats above the intact model, and at most that
    of a uniform guess: without it the second term would have no bottom and the fit would run away. The penalty leaves
    open what makes no difference, so a closed gate means a head that `forget` needs and `keep` can spare.
    The map is stored under the task that is kept.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        name="contrast",
        title="Contrastive gating",
        summary="learns one mask that keeps a task (keep) and takes another away (forget)",
        meaning="The gate of a head in a mask that keeps one task and forgets another. A closed gate is a head that "
        "the forgotten task needs and the kept one can spare.",
        kind="role",
        measures=(Measure(name="gate", meaning="the gate is open", unit="", zero_to_one=True),),
        primary="gate",
        order="ascending",
        by_default=False,
        fewest_tasks=2,
        tests=(),
    )
    keep: str = ""
    forget: str = ""
    gates: str = "paper"  # on planted models these name the right heads in every contrast, binary ones do not
    penalty: float = 0.1
    margin: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.keep or not self.forget:
            raise UsageError(
                "The method 'contrast' needs two tasks, the settings keep and forget: one mask keeps the first and "
                "takes the second away."
            )
        if self.keep == self.forget:
            raise UsageError(f"{self.keep!r} was asked to be kept and forgotten. Name two different tasks.")
        if self.penalty < 0:
            raise UsageError(
                f"penalty = {self.penalty:g} was given; a contrast leaves heads open: it must be 0 or more."
            )
        if not self.margin > 0:
            raise UsageError(
                f"A margin of {self.margin:g} nats was given; nothing would be forgotten. Give more than 0."
            )

    def work(self, context: RunContext) -> list[Step]:
        from headatlas.methods.gate.work import contrast_steps

        return contrast_steps(self, context)

    def measure(self, context: RunContext) -> Measured:
        from headatlas.methods.gate.contrast_fit import damage, fit_contrast, to_maps

        fits = fit_contrast(self, context)
        return Measured(to_maps(self, context, fits), damage(self, context, fits))
