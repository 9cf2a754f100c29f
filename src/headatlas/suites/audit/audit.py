"""Is a suite fair? What its texts give away before any language model has read them.

Every check compares one number with a limit. A map of heads is about a function only as far as the examples of that
function differ from the others in nothing else: length, format, frequent answers, or options that betray the answer.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from headatlas.errors import HeadAtlasError
from headatlas.suites.audit.effect_sizes import cohens_d, cramers_v
from headatlas.suites.audit.shortcuts import Excess, mentions, positions, shortcuts
from headatlas.suites.audit.text_baseline import CLASSIFIERS, asked_text, text_baseline
from headatlas.suites.example import Example
from headatlas.suites.suite import SPLITS, Suite

Verdict = Literal["good", "warning", "bad"]

# Good below the first number, bad from the second on.
DIFFERENCE = (0.5, 0.8)  # Cohen's d: medium, large
ASSOCIATION = (0.3, 0.5)  # Cramér's V: medium, large
FREQUENT = (0.10, 0.25)  # share of one answer: the accuracy of always giving it
EXCESS = 0.10  # accuracy above chance of a rule that does not read the prompt
NO_ROOM = 0.90  # accuracy from text alone that leaves a probe less than ten points
BALANCE = (0.2, 0.5)  # smallest task / largest: bad below the first, good from the second on
OFTEN, RARELY = 0.5, 0.1  # share of prompts that contain their answer


@dataclass(frozen=True)
class Check:
    """The result of one check: a number, the limit it is compared with, and a sentence that states both."""

    name: str
    task: str  # or "all"
    value: float
    limit: float | None  # None for numbers that only inform
    verdict: Verdict
    note: str

    def row(self) -> dict[str, Any]:
        """The check as a JSON object. JSON has no infinity and no NaN; they become null."""
        return asdict(self) | {"value": self.value if math.isfinite(self.value) else None}


Measure = Callable[[Example], int]


def audit(suite: Suite, seed: int = 0, tokens: Mapping[str, Measure] | None = None) -> list[Check]:
    """All checks of a suite. No language model is needed; a pure function of its arguments.

    `tokens` adds lengths that only a tokenizer knows, by name.
    """
    checks = [*_text(suite, seed), _shared_between_splits(suite, seed)]
    if tokens:
        checks += _lengths(suite, tokens)
    for part in (_balance, _lengths, _formats, _frequent_answers, _leakage, _shortcuts, _positions):
        checks += part(suite)
    return checks


def _rising(value: float, limits: tuple[float, float]) -> Verdict:
    return "good" if value < limits[0] else "warning" if value < limits[1] else "bad"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _listed(shares: dict[str, float]) -> str:
    return ", ".join(f"{task} {_percent(share)}" for task, share in shares.items())


def _text(suite: Suite, seed: int) -> Iterator[Check]:
    for classifier in CLASSIFIERS:
        name = f"task from text, {classifier}"
        try:
            baseline = text_baseline(suite, classifier, seed)
        except HeadAtlasError as error:
            yield Check(name, "all", float("nan"), None, "warning", f"Not measured: {error}")
            continue
        limit = baseline.majority + EXCESS
        low, high = baseline.interval
        verdict: Verdict = "bad" if baseline.accuracy >= NO_ROOM else "warning" if low > limit else "good"
        note = (
            f"A {classifier} classifier that sees only the text names the right task for "
            f"{100 * baseline.accuracy:.1f} % of the examples (95 % interval {100 * low:.1f} to {100 * high:.1f} %; "
            f"always naming the largest task: {100 * baseline.majority:.1f} %; chance: {100 * baseline.chance:.1f} %). "
            "A probe must beat this accuracy."
        )
        yield Check(name, "all", baseline.accuracy, limit, verdict, note)


LENGTHS: dict[str, Measure] = {
    "prompt length in words": lambda example: len(example.prompt.split()),
    "prompt length in characters": lambda example: len(example.prompt),
    "answer length in words": lambda example: len(example.answer.split()),
    "answer length in characters": lambda example: len(example.answer.strip()),
}


def _lengths(suite: Suite, measures: Mapping[str, Measure] | None = None) -> Iterator[Check]:
    for name, measure in (measures or LENGTHS).items():
        lengths = {task: [float(measure(example)) for example in suite.of(task)] for task in suite.tasks}
        pairs = [(cohens_d(lengths[a], lengths[b]), a, b) for a, b in combinations(suite.tasks, 2)]
        if not pairs:
            continue
        d, a, b = max(pairs, key=lambda pair: pair[0])
        note = (
            f"The {name} differs most between {a} (mean {np.mean(lengths[a]):.1f}) and {b} (mean "
            f"{np.mean(lengths[b]):.1f}), by {d:.2f} standard deviations; good is below {DIFFERENCE[0]}."
        )
        yield Check(name, "all", d, DIFFERENCE[0], _rising(d, DIFFERENCE), note)


def _frequent_answers(suite: Suite) -> Iterator[Check]:
    for task in suite.tasks:
        answers = [example.answer.strip().casefold() for example in suite.of(task)]
        first_words = [answer.split()[0] for answer in answers]
        for name, texts in (("most frequent answer", answers), ("most frequent first answer word", first_words)):
            text, count = Counter(texts).most_common(1)[0]
            share = count / len(texts)
            note = (
                f"The {name} of {task}, {text!r}, makes up {100 * share:.1f} % of {len(texts)} answers; good is below "
                f"{_percent(FREQUENT[0])}."
            )
            yield Check(name, task, share, FREQUENT[0], _rising(share, FREQUENT), note)


FORMATS: dict[str, Callable[[str], bool]] = {
    'prompts with "Question:"': lambda prompt: "Question:" in prompt,
    "prompts that end with a symbol": lambda prompt: not prompt.rstrip()[-1:].isalnum(),
    "prompts with digits": lambda prompt: bool(re.search(r"\d", prompt)),
}


def _formats(suite: Suite) -> Iterator[Check]:
    for name, has_format in FORMATS.items():
        # Of a step only the question it asks: every prompt of a chain has "Question:" and the digits of "Step 1:".
        flags = {task: [has_format(asked_text(example)) for example in suite.of(task)] for task in suite.tasks}
        v = cramers_v(flags)
        shares = {task: float(np.mean(task_flags)) for task, task_flags in flags.items()}
        note = (
            f"The share of {name} depends on the task with a Cramér's V of {v:.2f} ({_listed(shares)}); good is below "
            f"{ASSOCIATION[0]}."
        )
        yield Check(name, "all", v, ASSOCIATION[0], _rising(v, ASSOCIATION), note)


def _leakage(suite: Suite) -> Iterator[Check]:
    """How often a prompt contains its answer: only informs, except where the suite says how it is meant to be."""
    contained = {task: [bool(mentions(e.prompt, e.answer)) for e in suite.of(task)] for task in suite.tasks}
    shares = {task: float(np.mean(flags)) for task, flags in contained.items()}
    for task, share in shares.items():
        limit: float | None = None
        verdict: Verdict = "good"
        meant = ""
        if task in suite.knowledge.answer_in_prompt:
            limit, verdict = OFTEN, "good" if share > OFTEN else "warning"
            meant = f"; the answers of this task are to be found in the prompt, so good is above {_percent(OFTEN)}"
        if task in suite.knowledge.answer_not_in_prompt:
            limit, verdict = RARELY, "good" if share < RARELY else "warning"
            meant = f"; the answers of this task must not be read off the prompt, so good is below {_percent(RARELY)}"
        note = f"{_percent(share)} of the {len(contained[task])} prompts of {task} contain their answer{meant}."
        yield Check("answer in prompt", task, share, limit, verdict, note)
    above = ", ".join(task for task, share in shares.items() if share > OFTEN) or "no task"
    below = ", ".join(task for task, share in shares.items() if share < RARELY) or "no task"
    overall = sum(map(sum, contained.values())) / len(suite.examples)
    note = (
        f"{_percent(overall)} of all prompts contain their answer. Tasks above {_percent(OFTEN)}: {above}. "
        f"Tasks below {_percent(RARELY)}: {below}."
    )
    yield Check("answer in prompt", "all", overall, None, "good", note)


def _balance(suite: Suite) -> Iterator[Check]:
    sizes = Counter(example.task for example in suite.examples).most_common()
    (most, largest), (least, smallest) = sizes[0], sizes[-1]
    ratio = smallest / largest
    verdict: Verdict = "good" if ratio >= BALANCE[1] else "warning" if ratio >= BALANCE[0] else "bad"
    note = (
        f"The smallest task, {least}, has {smallest} examples and the largest, {most}, has {largest}: a ratio of "
        f"{ratio:.2f}; good is {BALANCE[1]} and above."
    )
    yield Check("class balance", "all", ratio, BALANCE[1], verdict, note)


def _beyond(excess: Excess, two_sided: bool) -> Verdict:
    """Bad if the whole interval is beyond the limit, a warning if only the number itself is."""
    value, low = excess.value, excess.low
    if two_sided and value < 0:
        value, low = -value, -excess.high
    return "bad" if low > EXCESS else "warning" if value > EXCESS else "good"


def _interval(excess: Excess) -> str:
    return f"{100 * excess.value:+.1f} points, 95 % interval {100 * excess.low:+.1f} to {100 * excess.high:+.1f}"


def _shortcuts(suite: Suite) -> Iterator[Check]:
    for rule, by_task in shortcuts(suite).items():
        for task, excess in by_task.items():
            note = (
                f"Choosing {rule} is right in {100 * excess.share:.1f} % of {excess.examples} examples of {task}; "
                f"chance is {100 * excess.chance:.1f} % ({_interval(excess)}). Good is at most {100 * EXCESS:.0f} "
                "points above chance."
            )
            yield Check(f"choose {rule}", task, excess.value, EXCESS, _beyond(excess, two_sided=False), note)


def _positions(suite: Suite) -> Iterator[Check]:
    for position, by_task in positions(suite).items():
        for task, excess in by_task.items():
            note = (
                f"In {100 * excess.share:.1f} % of {excess.examples} prompts of {task} the answer is the option "
                f"mentioned {position}; chance is {100 * excess.chance:.1f} % ({_interval(excess)}). Good is within "
                f"{100 * EXCESS:.0f} points of chance."
            )
            name = f"the answer mentioned {position}"
            yield Check(name, task, excess.value, EXCESS, _beyond(excess, two_sided=True), note)


def _shared_between_splits(suite: Suite, seed: int) -> Check:
    """A prompt in two splits has been seen before it is tested, whatever its group says."""
    name = "prompts shared between splits"
    try:
        splits = suite.split(seed)
    except HeadAtlasError as error:
        return Check(name, "all", float("nan"), 0.0, "bad", f"Not measured: {error}")
    splits_of_prompt: dict[str, set[str]] = defaultdict(set)
    splits_of_text: dict[tuple[str, str], set[str]] = defaultdict(set)  # by prompt and answer
    for split in SPLITS:
        for example in splits[split].examples:
            prompt, answer = (" ".join(text.casefold().split()) for text in (example.prompt, example.answer))
            splits_of_prompt[prompt].add(split)
            splits_of_text[prompt, answer].add(split)
    shared = sum(len(names) > 1 for names in splits_of_prompt.values())
    same_answer = sum(len(names) > 1 for names in splits_of_text.values())
    note = (
        f"{shared} of {len(splits_of_prompt)} different prompts are in more than one of {', '.join(SPLITS)} "
        f"({same_answer} of them with the same answer); good is 0."
    )
    return Check(name, "all", float(shared), 0.0, "bad" if shared else "good", note)
