"""headatlas selftest: every method on models whose heads are known."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from headatlas.cli.help import with_epilog
from headatlas.cli.options import Json, Quiet
from headatlas.errors import Interrupted, UsageError

EXAMPLES = """Examples:
  headatlas selftest                               all methods on all planted models, a few minutes
  headatlas selftest --model backup --method gate  one of each"""


def _models() -> str:
    from headatlas.planted import PLANTED

    return f"Planted models: {', '.join(PLANTED)}"


Command = with_epilog(lambda: "\n\n".join([_models(), EXAMPLES]))


def run(
    model: Annotated[str | None, typer.Option(help="Planted models, separated by commas; all unless given.")] = None,
    method: Annotated[
        str | None, typer.Option(help="Methods, separated by commas; all with maps unless given.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the outcome is written.")] = Path("selftest.json"),
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Test the methods on models whose heads are known. Exit code 1 if a bar is missed."""
    from headatlas.files import write_bytes
    from headatlas.progress import Reporter
    from headatlas.workflows.selftest import selftest

    _check_writable(out)
    try:
        outcome = selftest(_names(model), _names(method), reporter=Reporter(quiet=quiet or json_))
    except KeyboardInterrupt:
        raise Interrupted("Interrupted. Nothing was written; the self-test begins anew next time.") from None
    text = outcome.model_dump_json(indent=1) + "\n"
    write_bytes(out, text.encode())
    if json_:
        typer.echo(text, nl=False)
    elif not quiet:
        from headatlas.views.terminal import plain_console, selftest_tables

        console = plain_console()
        for table in selftest_tables(outcome):
            console.print(table)
        console.print(f"\nDone in {outcome.seconds:.0f} s. Written to {out}.", soft_wrap=True)
    if not outcome.passed:
        raise typer.Exit(1)


def _names(text: str | None) -> list[str] | None:
    return [name.strip() for name in text.split(",") if name.strip()] if text else None


def _check_writable(out: Path) -> None:
    """Better now than after minutes of work."""
    if out.is_dir():
        raise UsageError(f"`out` {out} is a folder. Give the name of a file.")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out.parent):
            pass
    except OSError as error:
        raise UsageError(f"`out` {out} cannot be written: {error.strerror}. Give a file in another folder.") from None
