"""Everything an atlas shows, written at once: figures, report.md and the page report.html."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headatlas.views.figures import write_figures
from headatlas.views.page import write_page
from headatlas.views.report.report import write_report

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.progress import Reporter

FILES = ("figures", "report.md", "report.html")


def publish(atlas: Atlas, reporter: Reporter) -> None:
    with reporter.spinner("Drawing figures, looking for patterns, writing the report"):
        write_figures(atlas)
        write_report(atlas, findings=atlas.findings)
        write_page([atlas], findings=[atlas.findings])
