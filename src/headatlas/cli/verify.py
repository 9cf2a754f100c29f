"""headatlas verify: test the maps of an atlas by intervening on the model."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from headatlas.cli.help import tests_list, with_epilog
from headatlas.cli.options import Device, Json, Quiet, SetBaseline, TrustRemoteCode
from headatlas.errors import Interrupted

EXAMPLES = """Examples:
  headatlas verify atlas                         all tests of the default map
  headatlas verify atlas --method attribute      of another method's map
  headatlas verify atlas --measure specific      of the heads that are specific for each task
  headatlas verify atlas --test mask,keep -k 32  some tests, 32 heads
  headatlas verify atlas --workers 2             two processes share the work"""

Command = with_epilog(lambda: "\n\n".join([tests_list(), EXAMPLES]))


def run(
    atlas: Annotated[Path, typer.Argument(help="The atlas folder.")],
    test: Annotated[
        str | None, typer.Option(help="Tests, separated by commas; by default all that apply to the method.")
    ] = None,
    method: Annotated[str | None, typer.Option(help="Whose maps; the atlas's default method unless given.")] = None,
    measure: Annotated[
        str | None, typer.Option(help="Rank heads by this measure of the method; by its primary one unless given.")
    ] = None,
    preset: Annotated[str | None, typer.Option(help="quick, standard or paper; that of the atlas by default.")] = None,
    k: Annotated[
        list[int] | None, typer.Option("-k", help="Number of heads; may be repeated. The largest is used where one is.")
    ] = None,
    draws: Annotated[int | None, typer.Option(help="Random sets of heads to compare with.")] = None,
    limit: Annotated[int | None, typer.Option(help="Held-out examples per task, and chains.")] = None,
    baseline: SetBaseline = None,
    distractors: Annotated[
        bool,
        typer.Option("--distractors/--no-distractors", help="Also score distractors, which forced choice needs."),
    ] = True,
    model: Annotated[str | None, typer.Option(help="The model, if it has moved since it was mapped.")] = None,
    device: Device = None,
    trust_remote_code: TrustRemoteCode = False,
    workers: Annotated[
        int | None, typer.Option(help="Processes that share the work, 1 by default; the evidence has the same bytes.")
    ] = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Intervene on the heads that a map chose, and measure held-out examples."""
    from headatlas.progress import Reporter
    from headatlas.workflows.verify import verify

    command = shlex.join(["headatlas", *sys.argv[1:]])
    try:
        tested = verify(
            atlas,
            model,
            tests=[name.strip() for name in test.split(",")] if test else None,
            method=method,
            preset=preset,
            ks=k,
            draws=draws,
            limit=limit,
            baseline=baseline,
            measure=measure,
            distractors=distractors,
            load_options={"device": device, "trust_remote_code": trust_remote_code},
            command=command,
            workers=workers,
            reporter=Reporter(quiet=quiet or json_),
        )
    except KeyboardInterrupt:
        raise Interrupted(f"Interrupted. Nothing that was finished is lost; continue with: {command}") from None
    chosen = tested.choose_method(method)
    if json_:
        typer.echo(tested.evidence[tested.evidence["method"] == chosen].to_json(orient="records", indent=2))
    elif not quiet:
        from headatlas.views.terminal import evidence_tables, plain_console

        console = plain_console()
        for table in evidence_tables(tested, chosen):
            console.print(table)
        where = f"Evidence: {tested.path / 'evidence.parquet'}   figures: {tested.path / 'figures'}"
        console.print(f"\n{where}", soft_wrap=True)
