"""The evidence of an atlas in words and tables, one section per test, by the shape of its outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from headatlas.views.report.evidence_curve import curve_lines, recovery_lines
from headatlas.views.report.evidence_matrix import change_lines, matrix_lines
from headatlas.views.report.markdown import bullets, plain
from headatlas.views.rows import Outcome, outcomes

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

LINES: dict[str, Callable[[Outcome], list[str]]] = {
    "curve": curve_lines,
    "recovery": recovery_lines,
    "matrix": matrix_lines,
    "change": change_lines,
}


def evidence_chapter(atlas: Atlas) -> list[str]:
    """All tests that the atlas holds; nothing where there are none."""
    if atlas.evidence.empty:
        return []
    lines = [
        "## Tested how",
        "Interventions on held-out examples, which chose no head. Log-probabilities and margins are in nats; "
        "accuracies and fractions are shares.",
        *_settings(atlas),
    ]
    for outcome in outcomes(atlas):
        test = outcome.test
        lines += [
            f"### {plain(test.title)} ({plain(test.name)}): heads chosen by {plain(outcome.method.name)}",
            f"{plain(test.question)} Heads are taken by {plain(outcome.chosen_by)}.",
            "; ".join(f"*{plain(control.name)}*: {plain(control.meaning)}" for control in test.controls),
            *LINES[test.shape](outcome),
        ]
    return lines


def _settings(atlas: Atlas) -> list[str]:
    """How the tests were run: every set of settings once for a method, with the tests that it belongs to."""
    tests: dict[tuple[str, str], list[str]] = {}
    settings: dict[str, dict[str, Any]] = {}
    for entry in atlas.run.verifications:
        tests.setdefault((entry.method, entry.key), []).append(entry.test)
        settings[entry.key] = entry.settings
    lines = []
    for (method, key), names in tests.items():
        values = "; ".join(f"{name.replace('_', ' ')} {_value(value)}" for name, value in settings[key].items())
        lines.append(f"{plain(method)} ({plain(', '.join(names))}): {plain(values)}.")
    return ["How the tests were run, by the method whose maps were tested:", bullets(lines)] if lines else []


def _value(value: Any) -> str:
    if value is None:
        return "all"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(f"{part:g}" if isinstance(part, float) else str(part) for part in value)
    return str(value)
