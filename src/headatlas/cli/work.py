"""headatlas work: one more worker for a map that is being made, or tested."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headatlas.cli.options import Quiet
from headatlas.errors import Interrupted


def run(
    atlas: Annotated[Path, typer.Argument(help="The atlas folder, on a disk that all workers share.")],
    parent: Annotated[
        int | None, typer.Option(hidden=True, help="End with this process, which started the worker.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Help with a map that another process is making or testing: compute cells until it is done, and publish nothing.

    It can be started at any time, any number of times, on any machine that sees the folder and has the same model,
    versions and kind of device.
    """
    from headatlas.progress import Reporter
    from headatlas.workflows.work import join

    try:
        join(atlas, Reporter(quiet=quiet or parent is not None), parent)
    except KeyboardInterrupt:
        raise Interrupted("Interrupted. The other workers go on; nothing that was finished is lost.") from None
