"""headatlas top: the first heads of a task, in the order of their rank."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def run(
    atlas: Annotated[Path, typer.Argument(help="The atlas folder.")],
    task: Annotated[
        str | None, typer.Option(help="The task; case does not matter. Not needed where there is only one.")
    ] = None,
    k: Annotated[int, typer.Option("-k", help="How many heads.", min=1)] = 10,
    method: Annotated[str | None, typer.Option(help="Whose map; the atlas's default method unless given.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the first heads of a task in the order of their rank, with intervals.

    Example: headatlas top atlas --task retrieval -k 5
    """
    from headatlas.atlas.atlas import Atlas

    opened = Atlas(atlas)
    if json_:
        typer.echo(opened.table(task, method).head(k).to_json(orient="records", indent=2))
        return
    from headatlas.views.terminal import plain_console, print_maps, top_table

    console = plain_console()
    task = opened.choose_task(task)
    table = top_table(opened, task, k, method)
    print_maps(console, opened, [task], method)
    console.print(table)
