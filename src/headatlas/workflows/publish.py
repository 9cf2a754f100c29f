"""Everything an atlas shows, written at once: figures, report.md and the page report.html.

An atlas that still grows is published without findings, and only those of its figures are drawn that are new.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from headatlas.files import remove
from headatlas.views.figures import figure_files, write_figures
from headatlas.views.page import write_page
from headatlas.views.report.report import write_report

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.progress import Reporter

FILES = ("figures", "report.md", "report.html")


def publish(
    atlas: Atlas, reporter: Reporter, since: Atlas | None = None, sources: Collection[str] | None = None
) -> None:
    """`since` is the stage of the atlas that was published before this one; without it all figures are drawn, or those
    from `sources` that have changed and those that are missing."""
    patterns = "" if atlas.run.pending else "looking for patterns, "
    with reporter.spinner(f"Drawing figures, {patterns}writing the report"):
        write_figures(atlas, since, sources)
        write_report(atlas, findings=atlas.findings)
        write_page([atlas], findings=[atlas.findings])


def drop_other_figures(atlas: Atlas) -> None:
    """Remove figures of earlier stages that a finished atlas does not have."""
    drawn = set(figure_files(atlas))
    for path in (atlas.path / "figures").glob("*"):
        if path not in drawn:
            remove(path)
