"""Examples from reasoning-gym, a package of about a hundred procedural generators of reasoning problems (optional)."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from importlib import import_module
from typing import Any

from headatlas.errors import HeadAtlasError, UsageError, unknown
from headatlas.suites.example import Example
from headatlas.suites.importers.cogqa import draw_distractors, short_hash


def read_reasoning_gym(name: str, n: int, seed: int = 0) -> list[Example]:
    """Examples from `n` entries of a reasoning-gym data set; the task is the data set's name.

    Entries without a single reference answer are left out, so fewer than `n` may come back. Entries with the same
    question share a group. Wrong options are answers of other entries of the same type (whole number, number, one word,
    several words); where the data set has few different answers, such as yes and no, there are fewer than three.
    """
    if n < 1:
        raise UsageError(f"{n} entries of {name!r} were asked for; `n` must be at least 1.")
    entries = [(i, entry) for i, entry in enumerate(_entries(name, n, seed)) if _answer(entry)]
    if not entries:
        raise HeadAtlasError(
            f"None of the {n} entries of the reasoning-gym data set {name!r} has a reference answer: it judges "
            "solutions by a rule. Choose another data set."
        )
    pools: dict[str, list[tuple[str, str]]] = defaultdict(list)  # by type: question hash and answer of each entry
    for _, entry in entries:
        pools[answer_type(_answer(entry))].append((short_hash(entry["question"]), _answer(entry)))
    return [_example(name, seed, i, entry, pools) for i, entry in entries]


def answer_type(answer: str) -> str:
    """The type of an answer; options of another type would give the right one away."""
    if re.fullmatch(r"[+-]?\d+", answer):
        return "whole number"
    if re.fullmatch(r"[+-]?[\d.,/]*\d[\d.,/]*(e[+-]?\d+)?", answer, flags=re.IGNORECASE):
        return "number"
    return "word" if len(answer.split()) == 1 else "words"


def _answer(entry: dict[str, Any]) -> str:
    """The reference answer, trimmed; empty where the entry has none."""
    return "" if entry["answer"] is None else str(entry["answer"]).strip()


def _entries(name: str, n: int, seed: int) -> list[dict[str, Any]]:
    try:
        gym = import_module("reasoning_gym")
        known = import_module("reasoning_gym.factory").DATASETS
    except ImportError:
        raise HeadAtlasError(
            f"The data set {name!r} was asked for, but the package reasoning-gym is not installed. "
            "Install it with: pip install 'headatlas[reasoning-gym]'"
        ) from None
    if name not in known:
        raise unknown("reasoning-gym data set", name, sorted(known))
    try:
        return list(gym.create_dataset(name, size=n, seed=seed))
    except Exception as error:  # its generators raise errors of any kind, assertions among them
        raise HeadAtlasError(
            f"reasoning-gym could not generate {n} entries of {name!r}: {type(error).__name__}: {error}. Choose "
            "another data set."
        ) from error


def _example(
    name: str, seed: int, index: int, entry: dict[str, Any], pools: dict[str, list[tuple[str, str]]]
) -> Example:
    answer, group = _answer(entry), short_hash(entry["question"])
    pool = [text for other, text in pools[answer_type(answer)] if other != group]
    options = draw_distractors(answer, pool, random.Random(f"{name}/{seed}/{index}"))
    return Example(
        id=f"{name}-{seed}-{index:05d}",
        task=name,
        prompt=f"{entry['question'].strip()}\nAnswer:",
        answer=f" {answer}",
        distractors=tuple(f" {text}" for text in options),
        group=f"{name}/{group}",
    )
