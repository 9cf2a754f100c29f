"""The cognitive suite: eight functions, one generator each, in the order in which their maps are shown."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from headatlas.suites.suite import Suite

TASKS = (
    "Knowledge Recall", "Retrieval", "Logical Reasoning", "Decision-making",
    "Semantic Understanding", "Syntactic Understanding", "Inference", "Math Calculation",
)  # fmt: skip
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


def cognitive(n: int = SIZE, level: int = 1, seed: int = 0, generators: Sequence[str] = GENERATORS) -> Suite:
    """`n` examples of each function at one level of difficulty; a pure function of its arguments."""
    examples = []
    for name in generators:
        examples += import_module(f"headatlas.suites.cognitive.{name}").generate(seed, n, level)
    return Suite("cognitive", tuple(examples))
