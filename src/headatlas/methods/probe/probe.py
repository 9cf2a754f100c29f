"""Probing: can the task be told from what a head writes? A map of where information is, not of what it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headatlas.errors import UsageError, unknown
from headatlas.methods.probe.data import ProbeData
from headatlas.methods.probe.features import Reading
from headatlas.methods.probe.linear import fit_linear
from headatlas.methods.probe.paper import fit_paper
from headatlas.methods.probe.report import diagnostics, maps
from headatlas.run.context import Measured, Work

KINDS = {"linear": fit_linear, "paper": fit_paper}
ANSWERS = ("reference", "generated")
FEWEST_SHUFFLES = 10  # below that the spread of the null is a guess


@dataclass(frozen=True)
class Probe:
    """Importance of a head: what it adds to the logit of the right task, in a probe of the task on all heads together
    (Cognitive Mirrors, 2025), over `choose` examples of that task.

    `kind` is `linear` (standardised, multinomial, convex) or `paper` (the published architecture and formula).
    `answers` are the `reference` ones or those the model has `generated`; z is read where their `tokens` are predicted.
    Fitted on `fit`, tuned on `choose`; its accuracy is measured on `evaluate`. p comes from `shuffles` refits with
    shuffled labels; `seeds` are independent starts of the paper's probe and draws of half-splits.
    """

    name: ClassVar[str] = "probe"
    least_tasks: ClassVar[int] = 2
    kind: str = "linear"
    answers: str = "reference"
    tokens: str = "important"
    k: int = 5
    shuffles: int = 20
    seeds: int = 1

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise unknown("probe", self.kind, KINDS)
        if self.answers not in ANSWERS:
            raise unknown("kind of answers", self.answers, ANSWERS)
        if self.shuffles < FEWEST_SHUFFLES:
            raise UsageError(
                f"{self.shuffles} shuffled refits were asked for; a null needs at least {FEWEST_SHUFFLES}."
            )
        if self.seeds < 1:
            raise UsageError(f"{self.seeds} seeds were asked for; take at least 1.")
        Reading(self.tokens, self.k)

    def measure(self, work: Work) -> Measured:
        if self.answers == "generated":
            from headatlas.run.generation import with_own_answers

            work = with_own_answers(work)
        data = ProbeData.of(work, Reading(self.tokens, self.k))
        fits = KINDS[self.kind](work, data, self.shuffles, self.seeds)
        texts = {split: [e for task in work.tasks for e in work.examples(task, split)] for split in ("fit", "evaluate")}
        return Measured(
            maps(data, fits, work.heads, signed=self.kind == "paper"),
            diagnostics(data, fits, texts),
        )
