"""Choosing an option without understanding the prompt: by its length, by its frequency, by where it is mentioned.

If such a rule gives the answers of a task, a head may serve the rule and not the function.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from headatlas.stats import proportion_interval
from headatlas.suites.example import Example
from headatlas.suites.suite import Suite


@dataclass(frozen=True)
class Excess:
    """How often a rule is right, and how often chance is. The 95 % interval of the difference is clustered by group."""

    share: float
    chance: float
    low: float  # of share - chance
    high: float
    examples: int

    @property
    def value(self) -> float:
        return self.share - self.chance


# The score of each option, the answer first; the rule takes the highest.
Scores = Sequence[float]


def shortcuts(suite: Suite) -> dict[str, dict[str, Excess]]:
    """The accuracy of each rule on each task, by rule and task; tasks without options are left out."""
    frequency = _frequency(suite)
    rules: dict[str, Callable[[Example], Scores]] = {
        "the shortest option": lambda example: [-len(text) for text in options(example)],
        "the longest option": lambda example: [len(text) for text in options(example)],
        "the option most frequent as an answer": frequency,
        "the option mentioned last": last_mentions,
    }
    return {name: _by_task(suite, rule, lambda example: True) for name, rule in rules.items()}


def positions(suite: Suite) -> dict[str, dict[str, Excess]]:
    """How often the answer is mentioned `first` and `last` of all options, by position and task.

    Only examples that mention all options count, and only tasks where most examples do.
    """
    rules: dict[str, Callable[[Example], Scores]] = {
        "first": lambda example: [-start for start in first_mentions(example)],
        "last": last_mentions,
    }
    mentions_all = {example.id: min(last_mentions(example)) >= 0 for example in suite.examples}
    result = {}
    for position, rule in rules.items():
        by_task = _by_task(suite, rule, lambda example: mentions_all[example.id])
        common = {task: excess for task, excess in by_task.items() if excess.examples > len(suite.of(task)) / 2}
        result[position] = common
    return result


def options(example: Example) -> list[str]:
    """The answer and the wrong options, without their leading spaces."""
    return [text.strip() for text in (example.answer, *example.distractors)]


def first_mentions(example: Example) -> list[int]:
    """Where in the prompt each option is first mentioned; -1 if it is not."""
    return [(mentions(example.prompt, text) or [-1])[0] for text in options(example)]


def last_mentions(example: Example) -> list[int]:
    """Where in the prompt each option is last mentioned; -1 if it is not."""
    return [(mentions(example.prompt, text) or [-1])[-1] for text in options(example)]


def mentions(text: str, part: str) -> list[int]:
    """Where `part` occurs in `text` as whole words, in any case; a full stop at the end of `part` is ignored."""
    text, part = text.casefold(), part.casefold().strip().rstrip(".")
    if not part:
        return []
    starts, start = [], text.find(part)
    while start >= 0:
        end = start + len(part)
        if not (_joined(text[max(0, start - 1) : start], part[0]) or _joined(part[-1], text[end : end + 1])):
            starts.append(start)
        start = text.find(part, start + 1)
    return starts


def _joined(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum()


def _frequency(suite: Suite) -> Callable[[Example], Scores]:
    """How often each option is an answer in other groups. An example's answer must not count as evidence for itself."""
    total: Counter[str] = Counter()
    by_group: dict[str, Counter[str]] = defaultdict(Counter)
    for example in suite.examples:
        total[example.answer.strip()] += 1
        by_group[example.group][example.answer.strip()] += 1
    return lambda example: [total[text] - by_group[example.group][text] for text in options(example)]


def _credit(scores: Scores) -> float:
    """Whether the rule takes the answer; options that tie for the highest score share the credit."""
    best = max(scores)
    return 1 / scores.count(best) if scores[0] == best else 0.0


def _by_task(suite: Suite, rule: Callable[[Example], Scores], counts: Callable[[Example], bool]) -> dict[str, Excess]:
    by_task = {}
    for task in suite.tasks:
        examples = [example for example in suite.of(task) if example.distractors and counts(example)]
        if not examples:
            continue
        right = np.array([_credit(rule(example)) for example in examples])
        chance = float(np.mean([1 / (1 + len(example.distractors)) for example in examples]))
        low, high = proportion_interval(right, [example.group for example in examples])
        by_task[task] = Excess(float(right.mean()), chance, low - chance, high - chance, len(examples))
    return by_task
