"""The suites that ship with headatlas, by name: functions of the level of difficulty."""

from __future__ import annotations

from headatlas.suites import cognitive as functions
from headatlas.suites.chains import generate as chain_generator
from headatlas.suites.chains.chain import chain_examples
from headatlas.suites.neutral import generate as neutral_generator
from headatlas.suites.suite import Suite


def cognitive(level: int = 1) -> Suite:
    return functions.cognitive(level=level)


def roles(level: int = 1) -> Suite:
    """The two functions of the gate figures, larger."""
    made = functions.cognitive(600, level, generators=("math_calculation", "syntactic_understanding"))
    return Suite("roles", made.examples)


def chains(_: int = 1) -> Suite:
    """Steps of chains, sorted by function in the order of the figures. They have no levels of difficulty."""
    examples = [example for chain in chain_generator.generate(0, 200) for example in chain_examples(chain)]
    order = {task: place for place, task in enumerate(functions.TASKS)}
    return Suite("chains", tuple(sorted(examples, key=lambda example: order[example.task])))


def neutral(level: int = 1) -> Suite:
    return Suite("neutral", tuple(neutral_generator.generate(0, 300, level)))
