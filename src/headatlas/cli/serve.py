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

    While `headatlas map` makes the atlas, the page shows every new map by itself. What `verify` and `head` find
    is there when they are done. The page can be opened before there is an atlas.

    Example: headatlas serve atlas --port 9000
    """
    from headatlas.atlas.atlas import Atlas
    from headatlas.atlas.run_record import LEFT_BEHIND
    from headatlas.views.server import serve

    folders = [path for path in (atlas, other) if path is not None]
    for folder in folders:
        names = {path.name for path in folder.glob("[!.]*")} if folder.is_dir() else {folder.name}
        if folder.exists() and names - LEFT_BEHIND:
            Atlas(folder)  # what cannot be read or become an atlas is refused here
        else:
            typer.echo(f"There is no atlas in {folder} yet; the page waits for it.")
    serve(folders, host, port, open_browser=not no_open)
