"""Probing: can the task be told from what a head writes? A map of where information is, not of what it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from headatlas.atlas.declarations import Measure, MethodInfo
from headatlas.errors import UsageError, unknown
from headatlas.methods.base import Measured, Method
from headatlas.methods.probe.reading import Reading

if TYPE_CHECKING:
    from headatlas.run.batches import Batch
    from headatlas.run.context import RunContext
    from headatlas.run.intact import Reader
    from headatlas.run.work import Step

KINDS = ("linear", "paper")
ANSWERS = ("reference", "generated")
FEWEST_SHUFFLES = 10  # below that the spread of the null is a guess


@dataclass(frozen=True)
class Probe(Method):
    """Importance of a head: what it adds to the logit of the right task, in a probe of the task on all heads together
    (Cognitive Mirrors, 2025), over `choose` examples of that task.

    `kind` is `linear` (standardised, multinomial, convex) or `paper` (the published architecture and formula).
    `answers` are the `reference` ones or those the model has `generated`; z is read where their `tokens` are predicted.
    Fitted on `fit`; the linear penalty is tuned on `choose`, and accuracy is measured on `evaluate`. p of the linear
    probe comes from `shuffles` refits with shuffled labels, and the paper's probe has none; `seeds` are independent
    starts of the paper's probe and draws of half-splits.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        name="probe",
        title="Probe",
        summary="finds the heads from whose output a classifier can tell the task",
        meaning="What the head adds to the logit of the right task in a classifier of tasks. Information, not effect: "
        "it nominates heads, and only an intervention can confirm them.",
        kind="information",
        measures=(
            Measure(name="information", meaning="the head tells the classifier that it is this task", unit="logit"),
            Measure(name="signed", meaning="the contribution with its sign (paper's probe)", unit="logit"),
            Measure(name="alone", meaning="a classifier of this head alone knows the task", unit="nats"),
        ),
        primary="information",
        priority=3,
        fewest_tasks=2,
        figures=("importance_probe", "elbow"),
    )
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"paper": {"seeds": 5}}
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

    def read_with_competence(self, context: RunContext, batch: Batch) -> Sequence[Reader]:
        from headatlas.methods.probe.features import feature_reader

        if self.answers == "generated":  # competence runs the reference ones
            return ()
        return (feature_reader(context, batch, Reading(self.tokens, self.k)),)

    def work(self, context: RunContext) -> list[Step]:
        from headatlas.methods.probe.work import probe_steps

        return probe_steps(self, context)

    def measure(self, context: RunContext) -> Measured:
        from headatlas.methods.probe.data import ProbeData
        from headatlas.methods.probe.linear import fit_linear
        from headatlas.methods.probe.paper import fit_paper
        from headatlas.methods.probe.report import diagnostics, maps

        if self.answers == "generated":
            from headatlas.run.generation import with_generated_answers

            context = with_generated_answers(context)
        data = ProbeData.collect(context, Reading(self.tokens, self.k))
        fit = fit_paper if self.kind == "paper" else fit_linear
        fits = fit(context, data, self.shuffles, self.seeds)
        texts = {
            split: [example for task in context.tasks for example in context.examples(task, split)]
            for split in ("fit", "evaluate")
        }
        return Measured(
            maps(self.info.name, data, fits, context.heads, signed=self.kind == "paper"),
            diagnostics(self.info.name, data, fits, texts),
        )
