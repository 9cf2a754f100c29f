"""The chains suite: questions answered in several steps, each step one cognitive function."""

from __future__ import annotations

from headatlas.suites.suite import Suite

SIZE = 200  # questions


def chains() -> Suite:
    """The steps of all chains, sorted by function in the order in which maps are shown."""
    from headatlas.suites.chains.chain import chain_examples
    from headatlas.suites.chains.generate import generate
    from headatlas.suites.cognitive.functions import KNOWLEDGE, TASKS

    examples = [example for chain in generate(0, SIZE) for example in chain_examples(chain)]
    return Suite("chains", tuple(sorted(examples, key=lambda example: TASKS.index(example.task))), KNOWLEDGE)
