"""The neutral suite: continuing plain text, the control for heads that matter to everything."""

from __future__ import annotations

from headatlas.suites.suite import Suite

SIZE = 300


def neutral(level: int = 1) -> Suite:
    from headatlas.suites.neutral.generate import generate

    return Suite("neutral", tuple(generate(0, SIZE, level)))
