"""headatlas serve: show the page of an atlas in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def run(
    atlas: Annotated[Path, typer.Argument(help="The atlas folder.")],
    other: Annotated[Path | None, typer.Argument(help="A second atlas to show beside it.")] = None,
    port: Annotated[
        int, typer.Option(help="The port; a free one is taken where it is in use.", min=0, max=65535)
    ] = 8642,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the browser.")] = False,
) -> None:
    """Serve the page of an atlas, and its files, to this machine alone.

    Example: headatlas serve atlas --port 9000
    """
    from headatlas.atlas.atlas import Atlas
    from headatlas.views.server import serve

    atlases = [Atlas(path) for path in (atlas, other) if path is not None]
    serve(atlases, [opened.findings for opened in atlases], host, port, open_browser=not no_open)
