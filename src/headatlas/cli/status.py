"""headatlas status: how far a map or its tests are."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headatlas.cli.options import Json

if TYPE_CHECKING:
    from rich.table import Table

    from headatlas.run.worker import Worker
    from headatlas.workflows.status import Status


def run(
    atlas: Annotated[Path, typer.Argument(help="The atlas folder.")],
    json_: Json = False,
) -> None:
    """Say how far a map or its tests are: cells by stage, who computes what, and how long it will take.

    It only reads, so it can be asked at any time, from any machine that sees the folder.
    """
    from headatlas.workflows.status import read_status

    status = read_status(atlas)
    if json_:
        typer.echo(json.dumps(_as_json(status), indent=2))
        return
    from headatlas.views.terminal import plain_console

    console = plain_console()
    if status.stages:
        console.print(_stages(status))
    if status.workers:
        console.print(_workers(status))
    for failure in status.failures:
        console.print(f"Failed: {failure}", soft_wrap=True)
    console.print(_sentence(status, atlas), soft_wrap=True)


def _sentence(status: Status, folder: Path) -> str:
    from headatlas.wording import count, duration, rounded

    record = status.record
    if status.is_over and record is not None:
        cells = record.cells
        counted = f" {cells.computed:,} cells computed, {cells.reused:,} reused." if cells else ""
        return f"The atlas {folder} is finished.{counted}"
    if not status.present:
        go_on = status.command or (
            "headatlas.verify" if status.testing else shlex.join(["headatlas", "gather", str(folder)])
        )
        return f"Nobody is working on {folder}. Nothing that was finished is lost; continue with: {go_on}"
    speed = f"{count(len(status.present), 'worker')}, {rounded(status.tokens_per_second)} tokens/s"
    if status.seconds_left is None:
        return f"{count(len(status.present), 'worker')}, no cell computed yet."
    if not status.seconds_left:
        return f"{speed}; all cells above are done."
    return f"{speed}; about {duration(status.seconds_left)} left for the cells above."


def _stages(status: Status) -> Table:
    from rich.table import Table

    table = Table(title="Cells")
    table.add_column("stage")
    for column in ("cells", "done", "running", "failed"):
        table.add_column(column, justify="right")
    for stage in status.stages:
        cells = f"{stage.cells:,}" if stage.begun else f"about {stage.cells:,}"
        table.add_row(stage.name, cells, f"{stage.done:,}", f"{stage.running:,}", f"{stage.failed:,}")
    return table


def _workers(status: Status) -> Table:
    from rich.table import Table

    from headatlas.wording import rounded

    table = Table(title="Workers")
    for column in ("worker", "process", "does"):
        table.add_column(column)
    for column in ("cells", "tokens/s"):
        table.add_column(column, justify="right")
    for worker in status.workers:
        speed = rounded(worker.tokens / worker.busy) if worker.busy else "–"
        table.add_row(worker.host, str(worker.pid), _doing(worker, status), f"{worker.cells:,}", speed)
    return table


def _doing(worker: Worker, status: Status) -> str:
    if worker.name in status.gone:
        return "has ended" if worker.ended else "is gone"
    if not worker.stage:
        return "loads the model"
    return f"{worker.stage}: {worker.step}" if worker.computing else f"{worker.stage}: between cells"


def _as_json(status: Status) -> dict[str, object]:
    return {
        "finished": status.is_over,
        "testing": status.testing,
        "command": status.command,
        "stages": [asdict(stage) for stage in status.stages],
        "workers": [{**asdict(worker), "gone": worker.name in status.gone} for worker in status.workers],
        "failures": status.failures,
        "tokens_per_second": status.tokens_per_second,
        "seconds_left": status.seconds_left,
    }
