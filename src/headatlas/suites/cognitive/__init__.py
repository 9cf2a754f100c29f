"""The cognitive suite: eight functions, one generator each, in the order in which their maps are shown."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from headatlas.suites.cognitive.functions import KNOWLEDGE, TASKS
from headatlas.suites.suite import Suite

__all__ = ["GENERATORS", "KNOWLEDGE", "TASKS", "cognitive", "roles"]

GENERATORS = (
    "knowledge_recall",
    "retrieval",
    "logical_reasoning",
    "decision_making",
    "semantic_understanding",
    "syntactic_understanding",
    "inference",
    "math_calculation",
)
SIZE = 300  # examples of each function
ROLES_SIZE = 600


def cognitive(n: int = SIZE, level: int = 1, seed: int = 0, generators: Sequence[str] = GENERATORS) -> Suite:
    """`n` examples of each function at one level of difficulty; a pure function of its arguments."""
    examples = []
    for name in generators:
        examples += import_module(f"headatlas.suites.cognitive.{name}").generate(seed, n, level)
    return Suite("cognitive", tuple(examples), KNOWLEDGE)


def roles(level: int = 1) -> Suite:
    """The two functions of the roles figure, with more examples: gates are fitted to them."""
    suite = cognitive(ROLES_SIZE, level, generators=("math_calculation", "syntactic_understanding"))
    return Suite("roles", suite.examples, KNOWLEDGE)
