"""headatlas page: write the page of an atlas."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def run(
    atlas: Annotated[Path, typer.Argument(help="The atlas folder.")],
    other: Annotated[Path | None, typer.Argument(help="A second atlas to show beside it.")] = None,
    out: Annotated[Path | None, typer.Option(help="The file; by default report.html in the atlas folder.")] = None,
) -> None:
    """Write one page to look at, with everything in it: no network is needed to open it.

    Example: headatlas page atlas --out atlas.html
    """
    from headatlas.atlas import Atlas
    from headatlas.page import write_page

    typer.echo(write_page([Atlas(path) for path in (atlas, other) if path is not None], out))
