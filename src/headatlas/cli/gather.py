"""headatlas gather: an atlas from the cells that shards have computed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headatlas.cli.map import show
from headatlas.cli.options import Json, Quiet
from headatlas.errors import Interrupted


def run(
    atlas: Annotated[Path, typer.Argument(help="The folder that the shards share.")],
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Put an atlas together from the cells that shards or workers have computed, and compute what is missing.

    While shards are still at work, it works with them.
    """
    from headatlas.progress import Reporter
    from headatlas.workflows.work import gather

    try:
        gathered = gather(atlas, Reporter(quiet=quiet or json_))
    except KeyboardInterrupt:
        raise Interrupted("Interrupted. Nothing that was finished is lost; run the same command again.") from None
    show(gathered, json_, quiet)
