"""headatlas report: what an atlas shows, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def run(
    atlas: Annotated[Path, typer.Argument(help="The atlas folder.")],
    other: Annotated[Path | None, typer.Argument(help="A second atlas, beside the first on the page.")] = None,
    method: Annotated[str | None, typer.Option(help="Which maps; the most complete ones by default.")] = None,
    seed: Annotated[int, typer.Option(help="The seed of the null draws.", min=0)] = 0,
    draws: Annotated[int, typer.Option(help="Draws of every null.", min=20)] = 1000,
    pdf: Annotated[bool, typer.Option("--pdf", help="Also print report.html as report.pdf, with Chromium.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Write report.md and the page report.html: maps, competence, strongest heads, evidence, patterns, limits.

    Example: headatlas report atlas --pdf
    """
    import json
    from dataclasses import asdict

    from headatlas.atlas.atlas import Atlas
    from headatlas.patterns import find_patterns
    from headatlas.views.page import write_page
    from headatlas.views.report.report import write_report

    opened = Atlas(atlas)
    findings = find_patterns(opened, method, seed=seed, draws=draws) if opened.methods else []
    path = write_report(opened, method, findings)
    beside = [Atlas(other)] if other is not None else []
    page = write_page([opened, *beside], findings=[findings, *(second.findings for second in beside)])
    printed = None
    if pdf:
        from headatlas.views.pdf import print_pdf

        printed = print_pdf(page, opened.path / "report.pdf")
    if json_:
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
        return
    typer.echo(path)
    typer.echo(page)
    if opened.run.pending:
        typer.echo(opened.run.still_to_come)
    if printed is not None:
        typer.echo(printed)
