"""headatlas top: the strongest heads of a task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def run(
    atlas: Annotated[Path, typer.Argument(help="The atlas folder.")],
    task: Annotated[str, typer.Option(help="The task; case does not matter.")],
    k: Annotated[int, typer.Option("-k", help="How many heads.", min=1)] = 10,
    method: Annotated[str | None, typer.Option(help="Which map; the most complete one by default.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the strongest heads of a task, with intervals.

    Example: headatlas top atlas --task retrieval -k 5
    """
    from headatlas.atlas.reading import Atlas

    opened = Atlas(atlas)
    if json_:
        typer.echo(opened.table(task, method).head(k).to_json(orient="records", indent=2))
        return
    from headatlas.views.terminal import plain_console, print_maps, top_table

    console = plain_console()
    table = top_table(opened, task, k, method)
    print_maps(console, opened, [opened.choose_task(task)], method)
    console.print(table)
