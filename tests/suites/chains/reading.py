"""Chains to test, and reading their texts with other means than those that wrote them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

from headatlas.suites.chains.chain import Chain
from headatlas.suites.chains.generate import generate

SIZE = 200
SEEDS = (0, 7, 1234)
# Steps whose answers follow from the language and not from what the text says.
ABOUT_LANGUAGE = ("Semantic Understanding", "Syntactic Understanding")

Solver = Callable[[str], list[object]]  # question to the answers of its steps; None for steps about language


@cache
def chains(seed: int = 0) -> list[Chain]:
    return generate(seed, SIZE)


def everything() -> list[Chain]:
    return [chain for seed in SEEDS for chain in chains(seed)]


def family(chain: Chain) -> str:
    match = re.fullmatch(r"chains/([a-z-]+)-[a-z]+", chain.group)
    assert match, chain.group
    return match[1]


def find(pattern: str, text: str) -> re.Match[str]:
    match = re.search(pattern, text)
    assert match, (pattern, text)
    return match


def numbers(pattern: str, text: str) -> tuple[int, ...]:
    return tuple(map(int, find(pattern, text).groups()))


def check_answers(solvers: Mapping[str, Solver]) -> None:
    """Every answer that follows from the text is worked out again from the text alone."""
    told = [chain for chain in everything() if family(chain) in solvers]
    assert {family(chain) for chain in told} == set(solvers)
    for chain in told:
        solved = solvers[family(chain)](chain.question)
        for step, answer in zip(chain.steps, solved, strict=True):
            if answer is None:
                assert step.task in ABOUT_LANGUAGE
            else:
                assert step.answer == str(answer), (chain.question, step)
        assert chain.answer == str(solved[-1])
