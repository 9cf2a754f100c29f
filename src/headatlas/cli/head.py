"""headatlas head: why a head matters: the examples it decides, where it looks, what it writes, on whom it depends."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headatlas.cli.help import with_epilog
from headatlas.cli.options import Device, Json, Quiet, TrustRemoteCode
from headatlas.errors import Interrupted

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.atlas.portraits import Portrait

EXAMPLES = """Examples:
  headatlas head atlas                          measure the strongest heads of every task
  headatlas head atlas L17H4                    show one head, measured first if it has not been
  headatlas head atlas L17H4,L3H2 --task math   in one task
  headatlas head atlas top:8:Retrieval          the first heads of a map"""

Command = with_epilog(lambda: EXAMPLES)


def run(
    atlas: Annotated[Path, typer.Argument(help="The atlas folder.")],
    heads: Annotated[
        str | None,
        typer.Argument(help="Heads, separated by commas; without them the strongest of every task are measured."),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(help="Look at heads in this task; by default in those where they are among the strongest."),
    ] = None,
    method: Annotated[str | None, typer.Option(help="Whose map; the atlas's default method unless given.")] = None,
    top: Annotated[int | None, typer.Option(help="How many heads of a task are its strongest; 4 by default.")] = None,
    limit: Annotated[int | None, typer.Option(help="Held-out examples per task; 24 by default.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Measure heads again that have been measured.")] = False,
    model: Annotated[str | None, typer.Option(help="The model, if it has moved since it was mapped.")] = None,
    device: Device = None,
    trust_remote_code: TrustRemoteCode = False,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Look closely at single heads, on held-out examples.

    What has been measured before is only shown; nothing is loaded for it.
    """
    from headatlas.atlas.atlas import Atlas
    from headatlas.progress import Reporter
    from headatlas.workflows.look import LIMIT, TOP, heads_and_tasks, look

    opened = Atlas(atlas)
    chosen = opened.choose_method(method)
    wanted = heads_and_tasks(opened, heads, chosen, task, TOP if top is None else top)
    missing = [head for head, tasks in wanted.items() if again or not _is_measured(opened, head, chosen, tasks)]
    reporter = Reporter(quiet=quiet or json_)
    if missing:
        try:
            look(
                opened,
                missing,
                model,
                task=task,
                top=TOP if top is None else top,
                limit=LIMIT if limit is None else limit,
                method=method,
                load_options={"device": device, "trust_remote_code": trust_remote_code},
                reporter=reporter,
            )
        except KeyboardInterrupt:
            command = shlex.join(["headatlas", *sys.argv[1:]])
            raise Interrupted(f"Interrupted. Nothing that was finished is lost; continue with: {command}") from None
    from headatlas.wording import head_name

    portraits = [opened.head(head_name(*head)) for head in wanted]
    if task is not None:  # of other tasks nothing was asked
        only = opened.choose_task(task)
        portraits = [
            portrait.model_copy(update={"tasks": [entry for entry in portrait.tasks if entry.task == only]})
            for portrait in portraits
        ]
    if json_:
        _print_json(portraits)
    elif heads is not None:
        _print(portraits)
    elif not quiet:
        names = ", ".join(portrait.name for portrait in portraits)
        typer.echo(f"{len(missing)} of {len(portraits)} heads measured: {names}.")
        typer.echo(f"Show one with: headatlas head {atlas} {portraits[0].name}")


def _is_measured(atlas: Atlas, head: tuple[int, int], method: str, tasks: list[str]) -> bool:
    """Whether a head has a portrait with these tasks, from the maps of this method."""
    from headatlas.wording import head_name

    if head not in atlas.heads:
        return False
    seen = {entry.task: entry.method for entry in atlas.head(head_name(*head)).tasks}
    return all(seen.get(task) == method for task in tasks)


def _print_json(portraits: list[Portrait]) -> None:
    import json

    typer.echo(json.dumps([portrait.model_dump() for portrait in portraits], ensure_ascii=False, indent=2))


def _print(portraits: list[Portrait]) -> None:
    from headatlas.views.terminal import head_text, plain_console

    console = plain_console()
    for portrait in portraits:
        console.print(head_text(portrait))
