"""The command line: one file per command. Nothing heavy is imported before a command runs."""

from __future__ import annotations

import contextlib
import sys

import typer

from headatlas.cli import (
    compare,
    edit,
    export,
    gather,
    head,
    models,
    plan,
    plot,
    report,
    selftest,
    serve,
    status,
    suite,
    top,
    verify,
    work,
)
from headatlas.cli import eval as eval_command
from headatlas.cli import map as map_command
from headatlas.errors import HeadAtlasError, Interrupted, UsageError

app = typer.Typer(
    help="Map what every attention head of a language model is for, and test it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # the plain help answers twice as fast
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("map", cls=map_command.Command)(map_command.run)
app.command("plan", cls=plan.Command)(plan.run)
app.command("verify", cls=verify.Command)(verify.run)
app.command("status")(status.run)
app.command("work")(work.run)
app.command("gather")(gather.run)
app.command("top")(top.run)
app.command("head", cls=head.Command)(head.run)
app.command("plot", cls=plot.Command)(plot.run)
app.command("report")(report.run)
app.command("compare")(compare.run)
app.command("edit", cls=edit.Command)(edit.run)
app.command("export", cls=export.Command)(export.run)
app.command("eval")(eval_command.run)
app.command("serve")(serve.run)
app.command("selftest", cls=selftest.Command)(selftest.run)
app.add_typer(suite.app, name="suite")
app.add_typer(models.app, name="models")


INTERRUPTED = 130  # exit code


def main() -> None:
    """Exit codes: 0 good, 1 failed, 2 bad usage, 130 interrupted."""
    from headatlas.process import end_at_once, reuse_freed_memory

    reuse_freed_memory()
    try:
        app()
    except Interrupted as error:
        with contextlib.suppress(OSError, ValueError):  # Ctrl-C may have ended whoever reads what is said
            _fail(str(error), INTERRUPTED)
        end_at_once(INTERRUPTED)
    except SystemExit as error:  # how typer ends, after every command
        if error.code == INTERRUPTED:
            end_at_once(INTERRUPTED)
        raise
    except UsageError as error:
        code = _fail(f"Error: {error}", 2)
    except HeadAtlasError as error:
        code = _fail(f"Error: {error}", 1)
    sys.exit(code)


def _fail(message: str, code: int) -> int:
    from headatlas.cli.messages import in_flags, on_one_line

    typer.echo(on_one_line(in_flags(message, typer.main.get_command(app))), err=True)
    return code
