"""Chains: a question answered in ordered steps, each step an example of one task."""

from __future__ import annotations

import re
from dataclasses import dataclass

from headatlas.suites.example import Example


@dataclass(frozen=True)
class Step:
    """One step: its question, its answer, and the task it belongs to. Texts carry no leading space."""

    question: str
    answer: str
    task: str
    distractors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chain:
    """A question, its final answer, and the steps that lead to it. `group` is what must not cross a split."""

    id: str
    question: str
    answer: str
    steps: tuple[Step, ...]
    group: str


def step_prompt(chain: Chain, step: int, answers: tuple[str, ...]) -> str:
    """The prompt of a step: the main question, the earlier steps with the given answers, and the step's question."""
    before = zip(chain.steps[:step], answers, strict=True)
    lines = [f"Question: {chain.question}"]
    lines += [f"Step {i}: {earlier.question} Answer: {answer}" for i, (earlier, answer) in enumerate(before, start=1)]
    return "\n".join([*lines, f"Step {step + 1}: {chain.steps[step].question} Answer:"])


def chain_examples(chain: Chain) -> list[Example]:
    """One example per step, with the right answers to all earlier steps in its prompt."""
    reference = tuple(step.answer for step in chain.steps)
    return [
        Example(
            id=f"{chain.id}-{i}",
            task=step.task,
            prompt=step_prompt(chain, i, reference[:i]),
            answer=f" {step.answer}",
            distractors=tuple(f" {text}" for text in step.distractors),
            group=chain.group,
            chain=chain.id,
            step=i,
        )
        for i, step in enumerate(chain.steps)
    ]


def step_question(prompt: str) -> str:
    """The question of the last step in a prompt: what `step_prompt` wrote there."""
    line = prompt.rstrip().rsplit("\n", 1)[-1]
    return re.sub(r"^Step \d+: ", "", line).removesuffix("Answer:").strip()
