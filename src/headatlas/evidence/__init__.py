"""Interventions that test a map on examples that had no part in making it, by name.

Each test is one class that declares itself in `info`; a new one is a file and a line here.
"""

from __future__ import annotations

from headatlas.evidence.base import EvidenceTest
from headatlas.registry import Registry

TESTS: Registry[type[EvidenceTest]] = Registry(
    "test",
    {
        "mask": "headatlas.evidence.mask:Mask",
        "keep": "headatlas.evidence.keep:Keep",
        "specificity": "headatlas.evidence.specificity:Specificity",
        "hierarchy": "headatlas.evidence.hierarchy:Hierarchy",
        "steer": "headatlas.evidence.steer:Steer",
        "order": "headatlas.evidence.order:Order",
    },
)


def register_test(test: type[EvidenceTest]) -> type[EvidenceTest]:
    """Add an evidence test: a class with `info` and `run`. It then takes part in `verify`, report, page and help.

    >>> @register_test
    ... class Mine(EvidenceTest): ...
    """
    TESTS.register(test.info.name, test)
    return test
