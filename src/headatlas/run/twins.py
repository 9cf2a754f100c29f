"""The twin of every example: the one it comes with, or another example of its task that is lent to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from headatlas.run.encoding import Encoder
from headatlas.suites.example import Example
from headatlas.suites.options import is_cut_short
from headatlas.suites.suite import rank


@dataclass(frozen=True)
class Twin:
    """A prompt to take activations from, and the answer it asks for: the foil."""

    prompt: str
    answer: str


def twins(examples: Sequence[Example]) -> dict[str, Twin]:
    """By id, the twins that examples come with."""
    return {
        example.id: Twin(example.counterfactual.prompt, example.counterfactual.answer)
        for example in examples
        if example.counterfactual is not None
    }


def lent_twins(examples: Sequence[Example], encoder: Encoder, seed: int = 0) -> dict[str, Twin]:
    """By id, another example as a twin: of the same template (where known) and the same number of tokens, with another
    answer (neither begins the other), from another group. Give the examples of one task and one split. Each is lent as
    evenly as can be."""
    alike: dict[tuple[str | None, int], list[Example]] = defaultdict(list)
    for example in examples:
        alike[example.template, len(encoder.prompt_ids(example.prompt))].append(example)
    lent: dict[str, Twin] = {}
    for members in alike.values():
        order = sorted(members, key=lambda example: rank(seed, example.id))
        times = dict.fromkeys((example.id for example in order), 0)
        for example in order:
            others = [
                other
                for other in order
                if other.group != example.group
                and other.answer.strip() != example.answer.strip()
                and not is_cut_short(other.answer, example.answer)
            ]
            if others:
                chosen = min(others, key=lambda other: (times[other.id], rank(seed, example.id + other.id)))
                times[chosen.id] += 1
                lent[example.id] = Twin(chosen.prompt, chosen.answer)
    return lent
