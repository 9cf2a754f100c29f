from __future__ import annotations

from headatlas.suites.chains import SIZE, chains
from headatlas.suites.cognitive import KNOWLEDGE, TASKS


def test_steps_are_sorted_by_function_and_chains_are_complete() -> None:
    suite = chains()
    assert (suite.tasks, suite.knowledge) == (TASKS, KNOWLEDGE)
    steps: dict[str, list[int]] = {}
    for example in suite.examples:
        steps.setdefault(example.chain, []).append(example.step)
    assert len(steps) == SIZE == 200
    assert all(sorted(numbers) == list(range(len(numbers))) for numbers in steps.values())
    assert {len(numbers) for numbers in steps.values()} == {3, 4, 5}
    assert all(example.prompt.endswith("Answer:") for example in suite.examples)


def test_a_chain_is_never_cut_by_a_split() -> None:
    splits = chains().split()
    groups = [{example.group for example in part.examples} for part in splits.values()]
    assert sum(map(len, groups)) == len(set.union(*groups))
