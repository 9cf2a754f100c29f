"""What the self-test of this version says about a method: one line for reports, one table for the docs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from headatlas.planted.record import Score, SelfTest, packaged
from headatlas.views.report.markdown import bullets, table
from headatlas.wording import MISSING, count, decimal

COLUMNS = ("method", "maps", "AUROC, mean", "AUROC, least", "average precision", "recall", "wrong signs",
           "wrong roles", "false discoveries", "backup heads named",
           "draws of the null model without a discovery")  # fmt: skip
LOOKED_FOR: dict[tuple[str, ...], str] = {
    ("backup",): "backup heads",
    ("helps",): "heads that help",
    ("spared",): "heads that only the forgotten task needs",
}
BEGIN, END = "<!-- written by scripts/record_selftest.py -->", "<!-- end of the self-test -->"
HIDDEN_BY_ROUNDING = 0.995  # an AUROC from here on is written as 1.00


def known_heads_line(method: str) -> str:
    """How a method did on models with known heads, in one sentence."""
    test = packaged()
    scores = [score for score in test.scores if score.method == method]
    if not scores:
        return "This method has not been tested on models with known heads."
    parts = [part for part in (_ranks(scores), _signs(scores), _false(scores), _null(test, method)) if part]
    joined = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    return f"On models with known heads this method {joined}."


def known_heads_section(test: SelfTest) -> str:
    """A self-test in Markdown, for the docs: one row per method, then how long it took and which bars were missed."""
    missed = [f"{bar.says}: {'; '.join(bar.missed_by)}" for bar in test.bars if bar.met is False]
    met = f"{sum(bar.met is True for bar in test.bars)} of {count(len(test.bars), 'bar')} are met"
    lines = [
        table(COLUMNS, known_heads_rows(test)),
        f"It took {test.processor_seconds:.0f} s of processor time. {met}{'. Missed:' if missed else '.'}",
    ]
    return "\n\n".join([*lines, *([bullets(missed)] if missed else [])])


def with_section(text: str, test: SelfTest) -> str:
    """A text of the docs with what it says about a self-test between BEGIN and END."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{known_heads_section(test)}\n\n{END}{after}"


def known_heads_rows(test: SelfTest) -> list[list[str]]:
    """One row per method of a self-test, in the order of COLUMNS."""
    return [_row(test, method, [s for s in test.scores if s.method == method]) for method in test.methods]


def _row(test: SelfTest, method: str, scores: list[Score]) -> list[str]:
    aurocs = _known(score.auroc for score in scores)
    null = [f"{null.draws - null.with_discovery} of {null.draws}" for null in test.null if null.method == method]
    return [
        method,
        str(len(scores)),
        *(decimal(value) for value in (_mean(aurocs), min(aurocs, default=None))),
        decimal(_mean(_known(score.average_precision for score in scores))),
        decimal(_mean(_known(score.recall for score in scores))),
        _total(score.sign_errors for score in scores),
        _total(score.roles_wrong for score in scores),
        _total(score.false_discoveries for score in scores),
        _backups(scores),
        *(null or [MISSING]),
    ]


def _ranks(scores: list[Score]) -> str:
    ranked = [(score.auroc, score) for score in scores if score.auroc is not None]
    if not ranked:
        return ""
    least, worst = min(ranked, key=lambda pair: pair[0])
    where = f"; least {decimal(least)}, on {worst.model}" if least < HIDDEN_BY_ROUNDING and len(ranked) > 1 else ""
    mean = decimal(_mean([auroc for auroc, _ in ranked]))
    heads = LOOKED_FOR.get(scores[0].looks_for, "heads that matter")
    return f"tells {heads} from others with an AUROC of {mean} ({count(len(ranked), 'map')}{where})"


def _signs(scores: list[Score]) -> str:
    signed = [score for score in scores if score.sign_errors is not None]
    if not signed:
        return ""
    wrong = [score for score in signed if score.sign_errors]
    if not wrong:
        return "gives no head the wrong sign"
    flagged = ", where its own check of signs says so" if all(score.flagged for score in wrong) else ""
    heads = count(sum(score.sign_errors or 0 for score in wrong), "head")
    return f"gives {heads} the wrong sign (on {', '.join(score.model for score in wrong)}{flagged})"


def _false(scores: list[Score]) -> str:
    called = [score for score in scores if score.false_discoveries is not None]
    if not called:
        return ""
    wrong = sum(score.false_discoveries or 0 for score in called)
    of = sum(score.irrelevant for score in called)
    return f"is wrong about {wrong or 'none'} of {of} heads that do not matter"


def _null(test: SelfTest, method: str) -> str:
    for null in test.null:
        if null.method == method:
            clean = null.draws - null.with_discovery
            return f"discovers nothing in {clean} of {null.draws} models where no head matters"
    return ""


def _backups(scores: list[Score]) -> str:
    """Of all backup heads; a dash for a method that names no heads."""
    tried = [score for score in scores if score.backups and score.roles_right is not None]
    return f"{sum(s.backups_named for s in tried)} of {sum(s.backups for s in tried)}" if tried else MISSING


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _total(numbers: Iterable[int | None]) -> str:
    known = [number for number in numbers if number is not None]
    return str(sum(known)) if known else MISSING
