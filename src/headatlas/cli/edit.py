"""headatlas edit: a checkpoint with heads masked, scaled or removed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headatlas.cli.help import with_epilog
from headatlas.cli.options import Device, Dtype, Json, Quiet, TrustRemoteCode
from headatlas.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from headatlas.use.edit import Edited

EXAMPLES = """Heads:
  L17H4,L3H2        by name
  L17               all heads of a layer
  top:16:Retrieval  the first heads of a map of the atlas
  lowest:16:TASK    those with the smallest values
  weakest:1         in each layer the group sharing keys and values that matters least

Examples:
  headatlas edit atlas --mask top:16:Retrieval -o without-retrieval
  headatlas edit --model smollm2 --scale L17H4,L3H2=0.5 -o half
  headatlas edit atlas --mask weakest:1 --prune -o smaller"""

Command = with_epilog(lambda: EXAMPLES)


def run(
    atlas: Annotated[Path | None, typer.Argument(help="The atlas folder; its model is edited.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A new folder for the checkpoint.")] = None,
    model: Annotated[str | None, typer.Option(help="The model, without an atlas or if it has moved.")] = None,
    mask: Annotated[str | None, typer.Option(metavar="HEADS", help="Heads to mask; see below.")] = None,
    scale: Annotated[
        list[str] | None, typer.Option(metavar="HEADS=FACTOR", help="Heads and their factor; may be repeated.")
    ] = None,
    baseline: Annotated[str, typer.Option(help="What masked heads write: zero, or their mean.")] = "zero",
    mean_over: Annotated[
        str | None, typer.Option(help="A task of the atlas over whose texts means are taken; Neutral unless given.")
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove masked heads: whole groups, as many in every layer.")
    ] = False,
    cost: Annotated[bool, typer.Option("--cost/--no-cost", help="Measure held-out examples before and after.")] = True,
    limit: Annotated[int | None, typer.Option(help="Held-out examples per task; 32 by default.")] = None,
    method: Annotated[str | None, typer.Option(help="Whose maps; the atlas's default method unless given.")] = None,
    device: Device = None,
    dtype: Dtype = None,
    trust_remote_code: TrustRemoteCode = False,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a checkpoint in which heads are masked, scaled or removed; plain transformers loads it.

    The checkpoint is compared with gating before it appears, and measured on held-out examples of every task of the
    atlas and on neutral text.
    """
    from headatlas.atlas.heads import read_scaled
    from headatlas.model.editing import RECORD
    from headatlas.progress import Reporter
    from headatlas.use.edit import edit

    if out is None:
        raise UsageError("Give a folder for the checkpoint: `out`.")
    done = edit(
        out,
        atlas=atlas,
        model=model,
        mask=mask or (),
        scale=dict(map(read_scaled, scale or ())),
        baseline=baseline,
        mean_over=mean_over,
        prune=prune,
        cost=cost,
        limit=limit,
        method=method,
        load_options={"device": device, "dtype": dtype, "trust_remote_code": trust_remote_code},
        reporter=Reporter(quiet=quiet or json_),
    )
    if json_:
        typer.echo((done.path / RECORD).read_text())
    elif not quiet:
        from headatlas.views.terminal import plain_console

        console = plain_console()
        if done.costs:
            console.print(_costs(done))
        for line in _summary(done):
            console.print(line, soft_wrap=True)


def _summary(done: Edited) -> list[str]:
    from headatlas.wording import count, head_list, percent, significant

    lines = [f"{count(len(done.factors), 'head')} edited: {head_list(list(done.factors))}."]
    (parameters, fewer), (cache, less) = done.parameters, done.cache
    if fewer < parameters:
        lines.append(
            f"Parameters: {parameters:,} before, {fewer:,} after ({percent(1 - fewer / parameters)} fewer). "
            f"Cache: {cache:,} bytes for each token before, {less:,} after ({percent(1 - less / cache)} less)."
        )
    lines.append(f"Its logits differ from those of gating by at most {significant(done.largest_difference, 2)}.")
    return [*lines, str(done.path)]


def _costs(done: Edited) -> Table:
    """The margin where a task has one, otherwise the log-probability; and the accuracy."""
    from headatlas.views.terminal.console import plain_table
    from headatlas.wording import decimal, interval, signed

    table = plain_table(
        ["task", "metric", "before", "after", "change", "95 % interval"],
        title="What the edit costs, on held-out examples",
    )
    for task in dict.fromkeys(row.task for row in done.costs):
        rows = {row.metric: row for row in done.costs if row.task == task}
        for metric in ("margin" if "margin" in rows else "logprob", "accuracy"):
            row = rows[metric]
            bounds = interval(row.low, row.high, sign=True)
            change = signed(row.after - row.before)
            unit = metric if metric == "accuracy" else f"{metric} (nats)"
            table.add_row(task, unit, decimal(row.before), decimal(row.after), change, bounds)
    return table
