"""Remove the heads of a low-level function through whole chains: do the high-level steps that build on it fail?

The model answers every step itself, with the heads removed, and its answers stand in the prompts of the steps that
follow. High-level steps are scored by the margin and the log-probability of the right answer and by forced choice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from headatlas.atlas.declarations import Control, TestInfo
from headatlas.atlas.records import Evidence
from headatlas.evidence.base import EvidenceTest
from headatlas.evidence.chain_steps import Steps, take_apart
from headatlas.evidence.choice import INTACT, Heads
from headatlas.run.cells import CellKind
from headatlas.run.outcomes import Outcome
from headatlas.stats import FEWEST_GROUPS, Array

if TYPE_CHECKING:
    from torch import Tensor

    from headatlas.evidence.trial import Trial
    from headatlas.run.cells import Cell, Result
    from headatlas.run.openings import Opening
    from headatlas.suites.example import Example

Planned = tuple[str, str, int | None, Heads]  # low-level function, control, draw, the heads that are removed

WALK = CellKind("hierarchy", 5)
STEP_TOKENS = 16  # of the model's answer to a step
SHOWN = 2  # random sets of each function where there are too few chains to compare: they can only be shown


class Hierarchy(EvidenceTest):
    """Low x high: top heads of each low-level function removed, each high-level function measured; random controls."""

    info: ClassVar[TestInfo] = TestInfo(
        name="hierarchy",
        title="Do later steps need the heads of earlier ones?",
        summary="removes low-level heads through whole chains and measures high-level steps",
        question="Do high-level steps fail when the heads of a low-level function are removed from the whole chain?",
        shape="matrix",
        axis="heads removed",
        controls=(
            Control(name="top", meaning="the first heads of the low-level function's map"),
            Control(name="random", meaning="as many random heads of the same layers"),
        ),
        figures=("hierarchy",),
    )

    def run(self, trial: Trial) -> list[Evidence]:
        lows = [task for task in trial.tasks if task in trial.low_level]
        high = set(trial.high_level)
        chains = [steps for steps in take_apart(trial.chains) if any(e.task in high for e in steps.examples)]
        if not lows or not chains:
            missing = "chain with high-level steps" if lows else "map of a task that the suite calls low-level"
            trial.context.say(f"No test of the hierarchy: there is no {missing}.")
            return []
        draws = trial.settings.few_draws if _can_compare(chains, high) else min(SHOWN, trial.settings.few_draws)
        plan: list[Planned] = [("", "intact", None, INTACT)]
        for task in lows:
            plan.append((task, "top", None, trial.top(task)))
            random = enumerate(trial.draws(task, len(trial.top(task)), draws))
            plan += [(task, "random", draw, heads) for draw, heads in random]
        outcomes, groups = _outcomes(trial, chains, [heads for *_, heads in plan], lows)
        planned = [
            (task, {"control": control, "k": len(heads), "draw": draw}) for task, control, draw, heads in plan[1:]
        ]
        rows: list[Evidence] = []
        for eval_task, outcome in outcomes.items():
            rows += self.level_rows(outcome, groups[eval_task], eval_task, planned)
            for task in lows:
                (top,), drawn = (_indices(plan, task, control) for control in ("top", "random"))
                compared = {"control": "top", "compared_with": "random", "k": len(plan[top][3])}
                rows += self.against_sets(
                    outcome.metrics, groups[eval_task], top, drawn, "less", task=task, eval_task=eval_task, **compared
                )
        return rows


def _can_compare(chains: Sequence[Steps], high: Collection[str]) -> bool:
    """Whether any high-level function has enough groups for an interval."""
    groups: dict[str, set[str]] = defaultdict(set)
    for steps in chains:
        for example in steps.examples:
            if example.task in high:
                groups[example.task].add(example.group)
    return max(map(len, groups.values())) >= FEWEST_GROUPS


def _indices(plan: Sequence[Planned], task: str, control: str) -> list[int]:
    return [i for i, (low, kind, *_) in enumerate(plan) if (low, kind) == (task, control)]


def _outcomes(
    trial: Trial, chains: Sequence[Steps], sets: Sequence[Heads], lows: Sequence[str]
) -> tuple[dict[str, Outcome], dict[str, list[str]]]:
    """Per high-level function: the outcome of every set of heads, and the groups of the steps."""
    baseline = _baseline(trial, lows)
    cells = [_cell(trial, steps, sets, baseline, lows) for steps in chains]
    scores: dict[str, dict[str, list[Array]]] = defaultdict(lambda: defaultdict(list))
    groups: dict[str, list[str]] = defaultdict(list)
    for steps, result in zip(chains, trial.context.runner.run("Hierarchy", cells), strict=True):
        high = [example for example in steps.examples if example.task in trial.high_level]
        for i, example in enumerate(high):
            for name, values in result.items():
                scores[example.task][name].append(values[:, i])
            groups[example.task].append(example.group)
    outcomes = {}
    for task in trial.high_level:
        if task in groups:
            logprob, hit, margin = (np.stack(scores[task][name], 1) for name in ("logprob", "hit", "margin"))
            outcomes[task] = Outcome(logprob, hit, None if np.isnan(margin).any() else margin)
    return outcomes, groups


def _baseline(trial: Trial, lows: Sequence[str]) -> Tensor | None:
    """What replaces a removed head: its mean over the low-level functions, whose heads these are."""
    import torch

    if trial.settings.baseline == "zero":
        return None
    return torch.stack([trial.means.mean(task) for task in lows]).mean(0)


def _cell(trial: Trial, steps: Steps, sets: Sequence[Heads], baseline: Tensor | None, lows: Sequence[str]) -> Cell:
    from headatlas.run.interventions import gates_without

    context, encoder = trial.context, trial.context.encoder
    gates = gates_without(context.model.shape, list(sets))
    return context.cell(
        WALK,
        lambda: walk(trial, steps, gates, baseline),
        sum(len(encoder.ids(example.prompt)) for example in steps.examples) * len(sets),
        options=[[astuple(option) for option in trial.options(example)] for example in steps.examples],
        foils=[trial.foil(example) for example in steps.examples],
        high_level=[example.task in trial.high_level for example in steps.examples],
        joints=steps.joints,
        tokenizer=encoder.fingerprint,
        longest=STEP_TOKENS,
        baseline=None if baseline is None else [trial.means.inputs(task) for task in lows],
        heads=[sorted(heads) for heads in sets],
    )


def walk(trial: Trial, steps: Steps, gates: Tensor, baseline: Tensor | None) -> Result:
    """One chain under every mask at once: `logprob`, `hit` and `margin` [mask, high-level step]; a margin is NaN where
    there is nothing to compare with."""
    from headatlas.run.generation import answer
    from headatlas.run.openings import run_opening

    model, encoder = trial.context.model, trial.context.encoder
    last = max(i for i, example in enumerate(steps.examples) if example.task in trial.high_level)
    opening = run_opening(model, _story(trial, steps.examples[: last + 1]), gates, baseline)
    answers: list[list[str]] = [[] for _ in gates]
    scored: list[Outcome] = []
    for number, example in enumerate(steps.examples[: last + 1]):
        prompts = [steps.prompt(mask_answers) for mask_answers in answers]
        if example.task in trial.high_level:
            scored.append(_scored(trial, example, prompts, gates, baseline, opening))
        if number < last:
            written = answer(model, encoder, prompts, STEP_TOKENS, gates, baseline, opening)
            for mask_answers, text in zip(answers, written, strict=True):
                mask_answers.append(text)
    margins = [one.logprob[0] * np.nan if one.margin is None else one.margin[0] for one in scored]
    return {
        "logprob": np.stack([one.logprob[0] for one in scored], 1),
        "hit": np.stack([one.hit[0] for one in scored], 1),
        "margin": np.stack(margins, 1),
    }


def _story(trial: Trial, examples: Sequence[Example]) -> Sequence[int]:
    """The tokens that begin the prompt of every step."""
    from headatlas.run.openings import tokens_alike

    return tokens_alike([trial.context.encoder.prompt_ids(example.prompt) for example in examples])


def _scored(
    trial: Trial,
    example: Example,
    prompts: Sequence[str],
    gates: Tensor,
    baseline: Tensor | None,
    opening: Opening,
) -> Outcome:
    """The outcome of a step, whose prompt differs from mask to mask: [1, mask]."""
    import torch

    from headatlas.run.batches import make_batches
    from headatlas.run.interventions import FORWARD_TOKENS, GatesByExample, score_under
    from headatlas.run.outcomes import outcome_of
    from headatlas.run.work import OVERHEAD

    model = trial.context.model
    asked = [trial.options(example.model_copy(update={"prompt": prompt})) for prompt in prompts]
    starts = [options[0].start - 1 for options in asked]  # options of one prompt share all that comes before
    begun = opening.shared(options[0].tokens[:start] for options, start in zip(asked, starts, strict=True))
    results = []
    for batch in make_batches(asked, FORWARD_TOKENS, starts if begun else None, OVERHEAD, closed=True):
        past = None
        if begun:
            prefix = min(starts[mask] for mask in batch.members)
            first = torch.tensor([asked[mask][0].tokens[begun:prefix] for mask in batch.members])
            with torch.inference_mode(), model.gate(gates[list(batch.members)], baseline):
                prompted = model.record_prefix(first, opening.of(batch.members, begun))
            past = prompted.with_past(
                [(keys[batch.row_owners], values[batch.row_owners]) for keys, values in prompted.past]
            )
            batch = batch.after(prefix)
        results.append((batch, score_under(model, batch, GatesByExample(gates, baseline, past))))
    return outcome_of(results, () if trial.foil(example) is None else range(len(asked)))
