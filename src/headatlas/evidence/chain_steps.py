"""Chains taken apart: the steps of a question, and prompts in which the model's answers replace the reference ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from headatlas.errors import HeadAtlasError
from headatlas.suites.example import Example


@dataclass(frozen=True)
class Steps:
    """A chain taken apart: its steps as examples, and what stands in a prompt between an answer and the next one."""

    examples: tuple[Example, ...]
    joints: tuple[str, ...]

    def prompt(self, answers: Sequence[str]) -> str:
        """The prompt of the step after the given answers."""
        text = self.examples[0].prompt
        for answer, joint in zip(answers, self.joints, strict=False):
            text += answer + joint
        return text


def take_apart(examples: Iterable[Example]) -> list[Steps]:
    """The chains of a suite, in the order of their names."""
    chains: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        if example.chain is not None and example.step is not None:
            chains[example.chain].append(example)
    return [_steps(name, sorted(steps, key=lambda e: e.step or 0)) for name, steps in sorted(chains.items())]


def _steps(name: str, examples: list[Example]) -> Steps:
    numbers = [example.step for example in examples]
    if numbers != list(range(len(numbers))):
        missing = sorted(set(range(max(n or 0 for n in numbers) + 1)) - {n for n in numbers if n is not None})
        listed = ", ".join(map(str, numbers))
        what = f"step {missing[0]} is missing" if missing else "a step is there twice"
        raise HeadAtlasError(f"Chain {name!r} has the steps {listed}: {what}. Steps count from 0, each once.")
    joints = []
    for before, after in pairwise(examples):
        begin = before.prompt + before.answer
        if not after.prompt.startswith(begin):
            raise HeadAtlasError(
                f"Chain {name!r}: the prompt of step {after.step} does not begin with the prompt and the answer of "
                f"step {before.step}, so the model's answer cannot be put into it."
            )
        joints.append(after.prompt[len(begin) :])
    return Steps(tuple(examples), tuple(joints))
