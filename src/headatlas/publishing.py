"""Everything an atlas shows, written at once: figures, report.md and the page report.html."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headatlas.figures import write_figures
from headatlas.page import write_page
from headatlas.patterns import find_patterns
from headatlas.report import write_report

if TYPE_CHECKING:
    from headatlas.atlas import Atlas
    from headatlas.patterns import Finding
    from headatlas.progress import Reporter

FILES = ("figures", "report.md", "report.html")


def publish(atlas: Atlas, reporter: Reporter) -> list[Finding]:
    """Write them all, and return the findings that they state, strongest first."""
    with reporter.spinner("Drawing figures, looking for patterns, writing the report"):
        write_figures(atlas)
        findings = find_patterns(atlas)
        write_report(atlas, findings=findings)
        write_page([atlas], findings=[findings])
    return findings
