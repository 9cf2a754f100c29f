"""Remove the heads of a low-level function through whole chains: do the high-level steps that build on it fail?

The model answers every step itself, with the heads removed, and its answers stand in the prompts of the steps that
follow. High-level steps are scored by the log-probability of the right answer and by forced choice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

from headatlas.errors import HeadAtlasError
from headatlas.evidence.choice import Heads
from headatlas.evidence.mask import INTACT
from headatlas.evidence.trial import Evidence, Outcome, Trial, changes, gates_without, score_each
from headatlas.run.cells import Cell, Result
from headatlas.run.generation import answer
from headatlas.stats import bootstrap_mean
from headatlas.suites.chains.chain import HIGH, LOW
from headatlas.suites.example import Example

Planned = tuple[str, str, int | None, Heads]  # low-level function, control, draw, the heads that are removed

STEP_TOKENS = 16  # of the model's own answer to a step


@dataclass(frozen=True)
class Steps:
    """A chain taken apart: its steps as examples, and what stands in a prompt between an answer and the next one."""

    examples: tuple[Example, ...]
    joints: tuple[str, ...]

    def prompt(self, own: Sequence[str]) -> str:
        """The prompt of the step after the given answers."""
        text = self.examples[0].prompt
        for answered, joint in zip(own, self.joints, strict=False):
            text += answered + joint
        return text


def take_apart(examples: Iterable[Example]) -> list[Steps]:
    """The chains of a suite, in the order of their names."""
    chains: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        if example.chain is not None and example.step is not None:
            chains[example.chain].append(example)
    return [_steps(name, sorted(own, key=lambda e: e.step or 0)) for name, own in sorted(chains.items())]


def _steps(name: str, examples: list[Example]) -> Steps:
    numbers = [example.step for example in examples]
    if numbers != list(range(len(numbers))):
        missing = sorted(set(range(max(n or 0 for n in numbers) + 1)) - {n for n in numbers if n is not None})
        found = ", ".join(map(str, numbers))
        what = f"step {missing[0]} is missing" if missing else "a step stands there twice"
        raise HeadAtlasError(f"Chain {name!r} has the steps {found}: {what}. Steps count from 0, each once.")
    joints = []
    for before, after in pairwise(examples):
        begin = before.prompt + before.answer
        if not after.prompt.startswith(begin):
            raise HeadAtlasError(
                f"Chain {name!r}: the prompt of step {after.step} does not begin with the prompt and the answer of "
                f"step {before.step}, so the model's own answer cannot be put into it."
            )
        joints.append(after.prompt[len(begin) :])
    return Steps(tuple(examples), tuple(joints))


def hierarchy(trial: Trial) -> list[Evidence]:
    """Low x high: top heads of each low-level function removed, each high-level function measured; random controls."""
    lows = [task for task in trial.tasks if task in LOW]
    apart = [steps for steps in take_apart(trial.chains) if any(example.task in HIGH for example in steps.examples)]
    if not lows or not apart:
        missing = "chains with high-level steps" if lows else f"map of {', '.join(LOW[:-1])} or {LOW[-1]}"
        trial.work.runner.reporter.say(f"No test of the hierarchy: there is no {missing}.")
        return []
    sizes = {task: len(trial.rankings[task].top(trial.settings.k)) for task in lows}
    plan: list[Planned] = [("", "intact", None, INTACT)]
    for task in lows:
        plan.append((task, "top", None, trial.rankings[task].top(sizes[task])))
        drawn = trial.draws(task, sizes[task], trial.settings.few_draws)
        plan += [(task, "random", draw, heads) for draw, heads in enumerate(drawn)]
    outcomes, groups = _run(trial, apart, [heads for *_, heads in plan], lows)
    found = []
    for high, outcome in outcomes.items():
        for metric, (values, level, low, up) in changes(outcome, outcome[:1], groups[high]).items():
            for i, (task, control, draw, _) in enumerate(plan[1:], start=1):
                row = (metric, float(values[i]), level, float(low[i]), float(up[i]), sizes[task], draw)
                found.append(Evidence("hierarchy", task, high, control, *row))
        for task in lows:
            found += _against_random(task, high, plan, outcome, groups[high], sizes[task])
    return found


def _against_random(
    task: str, high: str, plan: Sequence[Planned], outcome: Outcome, groups: list[str], k: int
) -> Iterator[Evidence]:
    top = next(i for i, (own, control, *_) in enumerate(plan) if (own, control) == (task, "top"))
    drawn = [i for i, (own, control, *_) in enumerate(plan) if (own, control) == (task, "random")]
    for metric, values in outcome.metrics.items() if drawn else ():
        difference = values[top] - values[drawn].mean(0)
        low, up = bootstrap_mean(difference, groups)
        row = (metric, float(difference.mean()), 0.0, float(low), float(up), k)
        yield Evidence("hierarchy", task, high, "top minus random", *row)


def _run(
    trial: Trial, chains: Sequence[Steps], sets: Sequence[Heads], lows: Sequence[str]
) -> tuple[dict[str, Outcome], dict[str, list[str]]]:
    """Per high-level function: the outcome of every set of heads, and the groups of the steps."""
    work = trial.work
    baseline = _baseline(trial, lows)
    cells = [_cell(trial, steps, sets, baseline, lows) for steps in chains]
    scores: dict[str, list[tuple[np.ndarray, np.ndarray]]] = defaultdict(list)
    groups: dict[str, list[str]] = defaultdict(list)
    for steps, result in zip(chains, work.runner.run("Hierarchy", cells), strict=True):
        for place, example in enumerate(e for e in steps.examples if e.task in HIGH):
            scores[example.task].append((result["logprob"][:, place], result["hit"][:, place]))
            groups[example.task].append(example.group)
    outcomes = {
        task: Outcome(np.stack([a for a, _ in scores[task]], 1), np.stack([b for _, b in scores[task]], 1))
        for task in HIGH
        if task in scores
    }
    return outcomes, groups


def _baseline(trial: Trial, lows: Sequence[str]) -> torch.Tensor | None:
    """What stands in for a removed head: its mean over the low-level functions, whose heads these are."""
    if trial.settings.baseline == "zero":
        return None
    return torch.stack([trial.means.mean(task) for task in lows]).mean(0)


def _cell(
    trial: Trial, steps: Steps, sets: Sequence[Heads], baseline: torch.Tensor | None, lows: Sequence[str]
) -> Cell:
    work = trial.work
    inputs = work.inputs(
        "hierarchy",
        chain=[example.model_dump() for example in steps.examples],
        chat=work.encoder.chat,
        longest=STEP_TOKENS,
        baseline=None if baseline is None else [trial.means.inputs(task) for task in lows],
        heads=[sorted(own) for own in sets],
    )
    tokens = sum(len(work.encoder.ids(example.prompt)) for example in steps.examples) * len(sets)
    return Cell(inputs, lambda: walk(trial, steps, gates_without(work.model.shape, sets), baseline), tokens)


@torch.inference_mode()
def walk(trial: Trial, steps: Steps, gates: torch.Tensor, baseline: torch.Tensor | None) -> Result:
    """One chain under every mask at once: `logprob` and `hit` [mask, high-level step]."""
    work = trial.work
    last = max(i for i, example in enumerate(steps.examples) if example.task in HIGH)
    own: list[list[str]] = [[] for _ in gates]
    logprob, hit = [], []
    for number, example in enumerate(steps.examples[: last + 1]):
        prompts = [steps.prompt(answers) for answers in own]
        if example.task in HIGH:
            asked = [example.model_copy(update={"prompt": prompt}) for prompt in prompts]
            scored = score_each(work.model, work.encoder, asked, gates, baseline)
            logprob.append(scored.logprob[0])
            hit.append(scored.hit[0])
        if number < last:
            answers = answer(work.model, work.encoder, prompts, STEP_TOKENS, gates, baseline)
            for before, text in zip(own, answers, strict=True):
                before.append(text)
    return {"logprob": np.stack(logprob, 1), "hit": np.stack(hit, 1)}
