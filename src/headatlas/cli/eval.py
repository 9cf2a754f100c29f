"""headatlas eval: lm-evaluation-harness with heads masked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headatlas.cli.options import Device, Json, Quiet, TrustRemoteCode


def run(
    atlas: Annotated[Path, typer.Argument(help="The atlas folder; its model is evaluated.")],
    tasks: Annotated[str, typer.Option(help="Tasks of lm-evaluation-harness, separated by commas.")],
    mask: Annotated[str, typer.Option(metavar="HEADS", help="Heads, such as L3H1,L7H0 or top:16:Retrieval.")],
    random: Annotated[int, typer.Option(help="Random sets of as many heads in the same layers.")] = 20,
    include: Annotated[Path | None, typer.Option(help="A folder with task files of your own.")] = None,
    limit: Annotated[int | None, typer.Option(help="Items per task.")] = None,
    fewshot: Annotated[int | None, typer.Option(help="Examples before each item; the task's own by default.")] = None,
    batch: Annotated[int, typer.Option(help="Texts that run together.")] = 8,
    method: Annotated[str | None, typer.Option(help="Whose map; the atlas's default method unless given.")] = None,
    model: Annotated[str | None, typer.Option(help="The model, if it has moved since it was mapped.")] = None,
    device: Device = None,
    trust_remote_code: TrustRemoteCode = False,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Evaluate a model with heads masked, against random sets of heads of the same layers.

    Needs lm-evaluation-harness: pip install 'headatlas[eval]'. The tasks run once intact, once masked, and once for
    each random set.

    Example: headatlas eval atlas --tasks arc_easy --mask top:16:Retrieval --limit 200

    Example: headatlas eval atlas --tasks mine --include tasks --mask L17H4 --random 50
    """
    import json
    from dataclasses import asdict

    from headatlas.progress import Reporter
    from headatlas.use.evaluate import evaluate

    rows = evaluate(
        [name.strip() for name in tasks.split(",") if name.strip()],
        mask,
        atlas=atlas,
        model=model,
        random=random,
        include=include,
        limit=limit,
        fewshot=fewshot,
        batch=batch,
        method=method,
        load_options={"device": device, "trust_remote_code": trust_remote_code},
        reporter=Reporter(quiet=quiet or json_),
    )
    if json_:
        typer.echo(json.dumps([asdict(row) for row in rows], indent=2))
        return
    from headatlas.views.terminal import plain_console
    from headatlas.views.terminal.console import plain_table
    from headatlas.wording import decimal, interval, signed

    columns = ["task", "metric", "items", "intact", "masked", "change", "95 % interval", "random", "masked − random"]
    table = plain_table([*columns, "95 % interval"], names=2, title=f"With {mask} masked")
    for row in rows:
        difference = None if row.random is None else row.masked - row.random
        table.add_row(
            row.task, row.metric, str(row.items), decimal(row.intact, 3), decimal(row.masked, 3),
            signed(row.masked - row.intact, 3), interval(row.low, row.high, 3, sign=True), decimal(row.random, 3),
            signed(difference, 3), interval(row.random_low, row.random_high, 3, sign=True),
        )  # fmt: skip
    console = plain_console()
    console.print(table)
    for remark in dict.fromkeys(row.remark for row in rows if row.remark):
        console.print(f"No interval: {remark}.")
