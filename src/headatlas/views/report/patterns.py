"""What the maps show beyond chance, how far methods agree, and how stable maps are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headatlas.patterns.agreement import TOP, agreement, stability
from headatlas.patterns.found_again import found_again
from headatlas.stats import LEVEL
from headatlas.views.found_again import found_again_sentence
from headatlas.views.report.markdown import bullets, plain, table
from headatlas.wording import decimal, p_value, percent, signed

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.patterns import Finding


def supported_lines(findings: Sequence[Finding]) -> list[str]:
    """What the maps show beyond chance."""
    tested = [finding for finding in findings if finding.p_adjusted is not None]
    supported = [finding for finding in tested if finding.supported]
    return [
        "### What the maps show beyond chance",
        f"{len(tested)} statements were tested, {len(supported)} are supported. p is adjusted for all of them "
        f"together: on maps of pure noise anything at all is stated in at most {percent(LEVEL, 0)} of atlases.",
        bullets(map(_with_p, supported)) or "No statement is supported by these maps.",
    ]


def unsupported_lines(findings: Sequence[Finding]) -> list[str]:
    """What was asked of the maps without an answer."""
    lines = []
    tested = [finding for finding in findings if finding.p_adjusted is not None]
    if unsupported := [finding for finding in tested if not finding.supported]:
        lines += ["### Statements that are not supported", bullets(_not_supported(unsupported))]
    if untested := [finding for finding in findings if finding.p_adjusted is None]:
        lines += ["### Statements that could not be tested", bullets(plain(finding.statement) for finding in untested)]
    return lines


def _with_p(finding: Finding) -> str:
    return f"{plain(finding.statement)} (p {p_value(finding.p_adjusted)})"


def _not_supported(findings: Sequence[Finding]) -> list[str]:
    """One line per kind: what was asked of which tasks, and the sentence that came nearest."""
    kinds: dict[str, list[Finding]] = {}
    for finding in findings:
        kinds.setdefault(finding.kind, []).append(finding)
    lines = []
    for kind, of_kind in kinds.items():
        tasks = list(dict.fromkeys(task for finding in of_kind for task in finding.tasks))
        nearest = "Nearest: " if len(of_kind) > 1 else ""
        lines.append(f"{plain(kind)} ({', '.join(map(plain, tasks))}). {nearest}{_with_p(of_kind[0])}")
    return lines


def agreement_lines(atlas: Atlas) -> list[str]:
    pairs = agreement(atlas).query("kind == 'methods'")
    if pairs.empty:
        return []
    rows = [
        (plain(row.first), plain(row.second), plain(row.task), row.heads, signed(row.correlation),
         f"{row.shared} of {row.k}", decimal(row.expected, 1), p_value(row.p_value))
        for row in pairs.itertuples()
    ]  # fmt: skip
    headings = ("method", "other", "task", "heads", "rank correlation", "same strongest (heads)",
                "by chance (heads)", "p of overlap")  # fmt: skip
    return ["### Agreement between methods", table(headings, rows)]


def found_again_lines(atlas: Atlas) -> list[str]:
    """One sentence per map: how many of its first heads would be found again."""
    lines = [
        f"{plain(found.method)}, {plain(found.task)}: {found_again_sentence(found)}" for found in found_again(atlas)
    ]
    return ["### Would the first heads be found again?", bullets(lines)] if lines else []


def stability_lines(atlas: Atlas) -> list[str]:
    stable = stability(atlas)
    stable = stable[stable["repeat"].notna() | stable["between_seeds"].notna()]
    if stable.empty:
        return []
    rows = [
        (plain(row.method), plain(row.measure), plain(row.task), signed(row.between_seeds), signed(row.repeat),
         signed(row.half), decimal(row.repeat_overlap, 1))
        for row in stable.itertuples()
    ]  # fmt: skip
    return [
        "### Stability",
        "Rank correlations: between seeds, as measured; with as many new examples and between two halves of the "
        "examples, as the standard errors imply if heads err independently. Last: how many of the "
        f"{TOP} strongest heads new examples would give again.",
        table(("method", "measure", "task", "between seeds", "new examples", "halves", f"same of {TOP} (heads)"), rows),
    ]
