"""Interventions that test a map on examples that had no part in making it: names to `module:function`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from headatlas.errors import unknown

TESTS = {
    "mask": "headatlas.evidence.mask:mask",
    "keep": "headatlas.evidence.keep:keep",
    "specificity": "headatlas.evidence.specificity:specificity",
    "hierarchy": "headatlas.evidence.hierarchy:hierarchy",
    "steer": "headatlas.evidence.steer:steer",
    "order": "headatlas.evidence.order:order",
}


def test_function(name: str) -> Callable[..., Any]:
    """The function behind a test's name: it takes a `Trial` and returns a list of `Evidence`."""
    if name not in TESTS:
        raise unknown("test", name, TESTS)
    module, function = TESTS[name].split(":")
    return getattr(import_module(module), function)
