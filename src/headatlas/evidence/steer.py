"""Push the chosen heads towards what they do on items the model gets right: does it get more of them right?

theta = mean(z | right) - mean(z | wrong), per task and head, where the answer is predicted, on `fit` only.
While an answer is predicted, z becomes z + alpha * sigma * theta / |theta|, sigma the spread of z along theta. The
strength alpha is the one that does best on `choose`; the gain is measured on `evaluate`.

At every strength, chosen or not, the push is compared with two controls: the same heads pushed as far along the
difference of two random groups of items, and random heads of the same layers pushed towards right answers. A strength
that was chosen because this push does well with it would favour this push.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from headatlas.atlas.declarations import Control, TestInfo
from headatlas.atlas.records import Evidence
from headatlas.evidence.base import EvidenceTest
from headatlas.evidence.choice import Heads
from headatlas.run.outcomes import Outcome

if TYPE_CHECKING:
    from headatlas.evidence.trial import Trial

Array32 = NDArray[np.float32]
FEWEST = 5  # items of each kind, right and wrong, that a direction needs
DIRECTIONS, HEADS = "random directions", "random heads"


class Steer(EvidenceTest):
    """Gain from steering the top heads of each task, its cost on neutral text, and plain scaling of the same heads.

    An answer whose tokens are all the most likely ones is what greedy decoding writes, so nothing has to be generated:
    the push is added at every position from which a token of an answer is predicted.
    """

    info: ClassVar[TestInfo] = TestInfo(
        name="steer",
        title="Pushing the heads",
        summary="pushes and scales the heads of a map",
        question="Does the model get more items right when the heads of a task are pushed towards right answers?",
        shape="change",
        axis="heads pushed",
        headline="accuracy",
        controls=(
            Control(name="steer", meaning="pushed towards right answers; the factor is the strength alpha"),
            Control(name="scale", meaning="multiplied by the factor"),
            Control(name=DIRECTIONS, meaning="the same heads pushed as far, right and wrong items shuffled"),
            Control(name=HEADS, meaning="random heads of the same layers pushed towards right answers"),
        ),
        chosen=("steer", "scale"),
        reference=None,
        figures=("steer",),
    )

    def run(self, trial: Trial) -> list[Evidence]:
        sources = steering_sources(trial)
        directions = {task: source.push(trial.top(task)) for task, source in sources.items()}
        strengths = _strengths(trial, directions)
        pushes = {task: [np.float32(strengths[task]) * direction] for task, direction in directions.items()}
        steered = {task: [("steer", alpha)] for task, alpha in strengths.items()}
        scaled = {task: [("scale", factor) for factor in trial.settings.scales] for task in trial.tasks}
        factors = {task: [(trial.top(task), factor) for factor in trial.settings.scales] for task in trial.tasks}
        return [
            *self._rows(trial, steered, trial.push("Steering", _flat(_measured(trial, pushes)))),
            *self._against_controls(trial, sources),
            *self._rows(trial, scaled, trial.scale("Scaling", _flat(_measured(trial, factors)))),
        ]

    def _rows(
        self, trial: Trial, done: Mapping[str, list[tuple[str, float]]], outcomes: Mapping[str, Outcome]
    ) -> Iterator[Evidence]:
        plan = _measured(trial, done)
        for eval_task, outcome in outcomes.items():
            planned = [
                (task, {"control": control, "factor": factor, "k": len(trial.top(task))})
                for task, controls in plan[eval_task].items()
                for control, factor in controls
            ]
            yield from self.level_rows(outcome, trial.groups(eval_task), eval_task, planned)

    def _against_controls(self, trial: Trial, sources: Mapping[str, Source]) -> Iterator[Evidence]:
        """The push of every task against random directions and against random heads, at every strength."""
        alphas, count = trial.settings.strengths, trial.settings.few_draws
        pushes: dict[str, list[Array32]] = {}
        drawn: dict[str, dict[str, range]] = {}  # the controls of a task by their number among its pushes
        for task, source in sources.items():
            top, rng = trial.top(task), np.random.default_rng([trial.settings.seed, trial.tasks.index(task), 3])
            shuffled = [source.shuffled(rng).push(top, like=source) for _ in range(count)]
            moved = [source.push(heads) for heads in trial.draws(task, len(top), count)]
            pushes[task] = [source.push(top), *shuffled, *moved]
            drawn[task] = {
                DIRECTIONS: range(1, 1 + len(shuffled)),
                HEADS: range(1 + len(shuffled), len(pushes[task])),
            }
        wanted = {task: [np.float32(alpha) * push for alpha in alphas for push in of_task]
                  for task, of_task in pushes.items()}  # fmt: skip
        for task, outcome in trial.push("Random pushes", wanted).items() if wanted else ():
            for number, alpha in enumerate(alphas):
                first = 1 + number * len(pushes[task])  # the outcome begins with the intact model
                for control, which in drawn[task].items():
                    compared = {"control": "steer", "compared_with": control, "factor": alpha}
                    yield from self.against_sets(
                        outcome.metrics, trial.groups(task), first, [first + i for i in which], "more",
                        task=task, eval_task=task, k=len(trial.top(task)), **compared,
                    )  # fmt: skip


def _measured(trial: Trial, by_task: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What is measured on what: the interventions of a task on itself, and those of all tasks on neutral text."""
    plan = {task: {task: interventions} for task, interventions in by_task.items()}
    if by_task and trial.controls_on_neutral_text:
        plan[trial.controls_on_neutral_text] = dict(by_task)
    return plan


def _flat(plan: Mapping[str, Mapping[str, Sequence[Any]]]) -> dict[str, list[Any]]:
    """The interventions of all tasks one after another, per measured task."""
    return {
        eval_task: [intervention for interventions in by_task.values() for intervention in interventions]
        for eval_task, by_task in plan.items()
    }


@dataclass(frozen=True)
class Source:
    """What pushes are made from: z [example, layer, head, head_dim] on `fit`, and which items the model gets right."""

    z: Array32
    right: NDArray[np.bool_]

    def push(self, heads: Heads, like: Source | None = None) -> Array32:
        """sigma * theta / |theta| of some heads, [layer, head, head_dim], zero for all others; each as long as that of
        another source where one is given."""
        pushes = direction(self.z, self.right)
        if like is not None:
            wanted, length = (
                np.linalg.norm(p, axis=-1, keepdims=True) for p in (direction(like.z, like.right), pushes)
            )
            pushes = pushes * wanted / np.maximum(length, 1e-12)
        chosen = np.zeros((*pushes.shape[:2], 1), dtype=np.float32)
        for head in heads:
            chosen[head] = 1
        return chosen * pushes

    def shuffled(self, rng: np.random.Generator) -> Source:
        """The same items, as many of them called right, but at random."""
        return Source(self.z, rng.permutation(self.right))


def steering_sources(trial: Trial) -> dict[str, Source]:
    """Of every task with enough items right and enough wrong."""
    from headatlas.methods.probe.features import collect
    from headatlas.methods.probe.reading import Reading

    model = trial.context.model
    features = collect(trial.context, "fit", Reading(), trial.tasks)  # those of the probe, if it was among the methods
    answered = trial.intact("Right and wrong items", "fit")
    sources = {}
    for task in trial.tasks:
        right = answered[task].hit > 0
        if min(right.sum(), (~right).sum()) < FEWEST:
            trial.context.say(
                f"{task} is not steered: {right.sum()} items right and {(~right).sum()} wrong in the fit split; a "
                f"direction needs {FEWEST} of each."
            )
            continue
        z = features[task].astype(np.float32, copy=False).reshape(-1, model.n_layers, model.n_heads, model.head_dim)
        sources[task] = Source(z, right)
    return sources


def direction(z: Array32, right: NDArray[np.bool_]) -> Array32:
    """sigma * theta / |theta| for every head of z [example, layer, head, head_dim]."""
    theta = z[right].mean(0) - z[~right].mean(0)
    length = np.linalg.norm(theta, axis=-1, keepdims=True)
    unit = theta / np.maximum(length, 1e-12)
    spread: Array32 = (z * unit).sum(-1).std(0, ddof=1)[..., None] * unit
    return spread


def _strengths(trial: Trial, directions: Mapping[str, Array32]) -> dict[str, float]:
    """For each task the strength with the best accuracy on `choose`; of equals the one with the best log-prob."""
    alphas = trial.settings.strengths
    tried = {task: [np.float32(alpha) * push for alpha in alphas] for task, push in directions.items()}
    chosen = {}
    for task, outcome in trial.push("Strength of steering", tried, "choose").items():
        chosen[task] = max(zip(outcome.hit[1:].mean(1), outcome.logprob[1:].mean(1), alphas, strict=True))[2]
    return chosen
