"""Choosing an option without understanding the prompt: by its length, by its frequency, by where it is mentioned.

If such a rule finds the answers of a task, a head may serve the rule and not the function.
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
    """How often a rule is right, beside chance. The 95 % interval of the difference is clustered by group."""

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
    """Rule, then task, to what choosing by the rule scores; tasks without options are left out."""
    frequency = _frequency(suite)
    rules: dict[str, Callable[[Example], Scores]] = {
        "the shortest option": lambda example: [-len(text) for text in options(example)],
        "the longest option": lambda example: [len(text) for text in options(example)],
        "the option most frequent as an answer": frequency,
        "the option mentioned last": last_mentions,
    }
    return {name: _by_task(suite, rule, lambda example: True) for name, rule in rules.items()}


def positions(suite: Suite) -> dict[str, dict[str, Excess]]:
    """How often the answer is mentioned first and last, in tasks where most prompts mention all options."""
    rules: dict[str, Callable[[Example], Scores]] = {
        "the answer mentioned first": lambda example: [-place for place in first_mentions(example)],
        "the answer mentioned last": last_mentions,
    }
    all_there = {example.id: min(last_mentions(example)) >= 0 for example in suite.examples}
    found = {name: _by_task(suite, rule, lambda example: all_there[example.id]) for name, rule in rules.items()}
    return {
        name: {task: excess for task, excess in own.items() if excess.examples > len(suite.of(task)) / 2}
        for name, own in found.items()
    }


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
    """Where `part` stands in `text` as a word or words of its own, whatever the case; a final stop does not count."""
    text, part = text.casefold(), part.casefold().strip().rstrip(".")
    if not part:
        return []
    found, start = [], text.find(part)
    while start >= 0:
        end = start + len(part)
        if not (_joined(text[max(0, start - 1) : start], part[0]) or _joined(part[-1], text[end : end + 1])):
            found.append(start)
        start = text.find(part, start + 1)
    return found


def _joined(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum()


def _frequency(suite: Suite) -> Callable[[Example], Scores]:
    """Counts of the options as answers of other groups: an example's own answer would always count for itself."""
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
    found = {}
    for task in suite.tasks:
        chosen = [example for example in suite.of(task) if example.distractors and counts(example)]
        if not chosen:
            continue
        right = np.array([_credit(rule(example)) for example in chosen])
        chance = float(np.mean([1 / (1 + len(example.distractors)) for example in chosen]))
        low, high = proportion_interval(right, [example.group for example in chosen])
        found[task] = Excess(float(right.mean()), chance, low - chance, high - chance, len(chosen))
    return found
