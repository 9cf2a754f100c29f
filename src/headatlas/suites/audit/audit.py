"""Is a suite fair? What its texts give away before any language model has read them.

Every check is one number beside its limit. A map of heads is only about a function as far as the examples of that
function differ from the others in nothing else: length, format, frequent answers, or options that betray the answer.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from headatlas.errors import HeadAtlasError
from headatlas.suites.audit.shortcuts import Excess, mentions, positions, shortcuts
from headatlas.suites.audit.text_baseline import CLASSIFIERS, own_text, text_baseline
from headatlas.suites.example import Example
from headatlas.suites.suite import SPLITS, Suite

Verdict = Literal["good", "warning", "bad"]

# Good below the first number, bad from the second on.
DIFFERENCE = (0.5, 0.8)  # Cohen's d: medium, large
ASSOCIATION = (0.3, 0.5)  # Cramér's V: medium, large
FREQUENT = (0.10, 0.25)  # share of one answer: what always giving it scores
EXCESS = 0.10  # over chance, of choosing an option without reading the prompt
NO_ROOM = 0.90  # accuracy from text alone that leaves a probe less than ten points
BALANCE = (0.2, 0.5)  # smallest task / largest: bad below the first, good from the second on


@dataclass(frozen=True)
class Check:
    """One finding: a number, the limit it should keep, and a sentence that says both."""

    name: str
    task: str  # or "all"
    value: float
    limit: float | None  # nothing for numbers that only inform
    verdict: Verdict
    note: str

    def row(self) -> dict[str, Any]:
        """As JSON has it, which knows no number that is not finite."""
        return asdict(self) | {"value": self.value if math.isfinite(self.value) else None}


Measure = Callable[[Example], int]


def audit(suite: Suite, seed: int = 0, tokens: Mapping[str, Measure] | None = None) -> list[Check]:
    """All checks of a suite. No language model is needed; a pure function of its arguments.

    `tokens` adds lengths that only a tokenizer knows, by name.
    """
    parts = (_balance, _lengths, _formats, _frequent_answers, _leakage, _shortcuts, _positions)
    found = [*_text(suite, seed), _shared_between_splits(suite, seed)]
    more = _lengths(suite, tokens) if tokens else ()
    return [*found, *more, *(check for part in parts for check in part(suite))]


def cohens_d(a: Sequence[float], b: Sequence[float]) -> float:
    """Difference of two means in pooled standard deviations, without sign; infinite if the means differ and nothing
    else does."""
    gap = abs(float(np.mean(a) - np.mean(b)))
    spread = np.sqrt((np.var(a) * len(a) + np.var(b) * len(b)) / max(1, len(a) + len(b) - 2))
    return 0.0 if gap == 0 else float(gap / spread) if spread > 0 else float("inf")


def cramers_v(flags: dict[str, list[bool]]) -> float:
    """How far a yes-or-no property depends on the task: 0 not at all, 1 wholly."""
    table = np.array([[sum(own), len(own) - sum(own)] for own in flags.values()], dtype=float)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    if (expected == 0).any() or len(flags) < 2:
        return 0.0  # every prompt has the property, or none
    return float(np.sqrt(((table - expected) ** 2 / expected).sum() / table.sum()))


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
            found = text_baseline(suite, classifier, seed)
        except HeadAtlasError as error:
            yield Check(name, "all", float("nan"), None, "warning", f"Not measured: {error}")
            continue
        limit = found.majority + EXCESS
        verdict: Verdict = "bad" if found.accuracy >= NO_ROOM else "warning" if found.interval[0] > limit else "good"
        low, high = found.interval
        note = (
            f"The text alone tells the task in {100 * found.accuracy:.1f} % of the examples (95 % interval "
            f"{100 * low:.1f} to {100 * high:.1f} %, majority {100 * found.majority:.1f} %, chance "
            f"{100 * found.chance:.1f} %): the accuracy that a probe must beat."
        )
        yield Check(name, "all", found.accuracy, limit, verdict, note)


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
        firsts = [answer.split()[0] for answer in answers]
        for name, texts in (("most frequent answer", answers), ("most frequent first answer word", firsts)):
            text, count = Counter(texts).most_common(1)[0]
            share = count / len(texts)
            note = (
                f"The {name} of {task}, {text!r}, makes up {100 * share:.1f} % of {len(texts)} answers; good is below "
                f"{_percent(FREQUENT[0])}."
            )
            yield Check(name, task, share, FREQUENT[0], _rising(share, FREQUENT), note)


FORMATS: dict[str, Callable[[str], bool]] = {
    'prompts with "Question:"': lambda prompt: "Question:" in prompt,
    "prompts that end with a sign": lambda prompt: not prompt.rstrip()[-1:].isalnum(),
    "prompts with digits": lambda prompt: bool(re.search(r"\d", prompt)),
}


def _formats(suite: Suite) -> Iterator[Check]:
    for name, has in FORMATS.items():
        # Of a step only its own question: "Question:" and the digits of "Step 1:" stand in every chain.
        flags = {task: [has(own_text(example)) for example in suite.of(task)] for task in suite.tasks}
        v = cramers_v(flags)
        shares = {task: float(np.mean(own)) for task, own in flags.items()}
        note = (
            f"The share of {name} has a Cramér's V of {v:.2f} with the task ({_listed(shares)}); good is below "
            f"{ASSOCIATION[0]}."
        )
        yield Check(name, "all", v, ASSOCIATION[0], _rising(v, ASSOCIATION), note)


def _leakage(suite: Suite) -> Iterator[Check]:
    """Information, with two exceptions that follow from what the functions mean."""
    leaks = {task: [bool(mentions(e.prompt, e.answer)) for e in suite.of(task)] for task in suite.tasks}
    shares = {task: float(np.mean(own)) for task, own in leaks.items()}
    for task, share in shares.items():
        limit: float | None = None
        verdict: Verdict = "good"
        wanted = ""
        if task.casefold() == "retrieval":
            limit, verdict = 0.5, "good" if share > 0.5 else "warning"
            wanted = "; retrieval finds its answer in the prompt, so this should be above 50 %"
        if task.casefold() == "knowledge recall":
            limit, verdict = 0.1, "good" if share < 0.1 else "warning"
            wanted = "; recall must not read its answer off the prompt, so this should be below 10 %"
        note = f"{_percent(share)} of the {len(leaks[task])} prompts of {task} contain their answer{wanted}."
        yield Check("answer in prompt", task, share, limit, verdict, note)
    above = ", ".join(task for task, share in shares.items() if share > 0.5) or "no task"
    below = ", ".join(task for task, share in shares.items() if share < 0.1) or "no task"
    overall = sum(map(sum, leaks.values())) / len(suite.examples)
    note = f"{_percent(overall)} of all prompts contain their answer: above 50 % {above}; below 10 % {below}."
    yield Check("answer in prompt", "all", overall, None, "good", note)


def _balance(suite: Suite) -> Iterator[Check]:
    sizes = Counter(example.task for example in suite.examples).most_common()
    (most, largest), (least, smallest) = sizes[0], sizes[-1]
    ratio = smallest / largest
    verdict: Verdict = "good" if ratio >= BALANCE[1] else "warning" if ratio >= BALANCE[0] else "bad"
    note = (
        f"The smallest task, {least}, has {smallest} examples and the largest, {most}, {largest}: a ratio of "
        f"{ratio:.2f}; good is {BALANCE[1]} and above."
    )
    yield Check("class balance", "all", ratio, BALANCE[1], verdict, note)


def _beyond(excess: Excess, two_sided: bool) -> Verdict:
    """Bad if the whole interval lies beyond the limit, a warning if only the number itself does."""
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
                f"Choosing {rule} is right in {100 * excess.share:.1f} % of {excess.examples} examples of {task}, by "
                f"chance {100 * excess.chance:.1f} % ({_interval(excess)}); good is at most {100 * EXCESS:.0f} points "
                "above chance."
            )
            yield Check(f"choose {rule}", task, excess.value, EXCESS, _beyond(excess, two_sided=False), note)


def _positions(suite: Suite) -> Iterator[Check]:
    for what, by_task in positions(suite).items():
        for task, excess in by_task.items():
            note = (
                f"{100 * excess.share:.1f} % of {excess.examples} prompts of {task} have {what} of all options, by "
                f"chance {100 * excess.chance:.1f} % ({_interval(excess)}); good is within {100 * EXCESS:.0f} points."
            )
            yield Check(what, task, excess.value, EXCESS, _beyond(excess, two_sided=True), note)


def _shared_between_splits(suite: Suite, seed: int) -> Check:
    """A prompt in two splits is seen before it is tested, whatever its group says."""
    name = "prompts shared between splits"
    try:
        splits = suite.split(seed)
    except HeadAtlasError as error:
        return Check(name, "all", float("nan"), 0.0, "bad", f"Not measured: {error}")
    prompts: dict[str, set[str]] = defaultdict(set)
    texts: dict[tuple[str, str], set[str]] = defaultdict(set)
    for split in SPLITS:
        for example in splits[split].examples:
            prompt, answer = (" ".join(text.casefold().split()) for text in (example.prompt, example.answer))
            prompts[prompt].add(split)
            texts[prompt, answer].add(split)
    shared = sum(len(homes) > 1 for homes in prompts.values())
    same = sum(len(homes) > 1 for homes in texts.values())
    note = (
        f"{shared} of {len(prompts)} different prompts stand in more than one of {', '.join(SPLITS)} ({same} with the "
        "same answer); it must be 0."
    )
    return Check(name, "all", float(shared), 0.0, "bad" if shared else "good", note)
