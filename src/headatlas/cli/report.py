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

    With a second atlas the page shows both side by side, and how alike they are (as headatlas compare does).

    Example: headatlas report atlas --pdf
    """
    import json
    from dataclasses import asdict

    from headatlas.atlas.atlas import Atlas
    from headatlas.patterns import find_patterns
    from headatlas.patterns.compare import compare_if_possible
    from headatlas.views.page import write_page
    from headatlas.views.pending import pending_words
    from headatlas.views.report.report import write_report

    opened = Atlas(atlas)
    shown = opened.methods and not opened.run.pending
    findings = find_patterns(opened, method, seed=seed, draws=draws) if shown else []
    path = write_report(opened, method, findings)
    beside = [Atlas(other)] if other is not None else []
    page = write_page(
        [opened, *beside],
        findings=[findings, *(second.findings for second in beside)],
        comparison=compare_if_possible(opened, beside[0], method) if beside else None,
    )
    printed = None
    if pdf:
        from headatlas.views.pdf import print_pdf

        printed = print_pdf(page, opened.path / "report.pdf")
    if json_:
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for written in filter(None, (path, page, printed)):
            typer.echo(written)
    if opened.run.pending:
        typer.echo(pending_words(opened.run), err=json_)
