"""headatlas suite: what suites there are, whether one is good and fair, and how to bring in others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headatlas.cli.options import Json, Level

if TYPE_CHECKING:
    from collections.abc import Callable

    from headatlas.progress import Reporter
    from headatlas.suites.example import Example

app = typer.Typer(help="List, check, audit and import suites.", no_args_is_help=True)
importer = typer.Typer(help="Turn other data into a task file.", no_args_is_help=True)
app.add_typer(importer, name="import")


@app.command("list")
def list_(json_: Json = False) -> None:
    """List the built-in suites."""
    from headatlas.suites import SUITES

    typer.echo(json.dumps(SUITES, indent=2) if json_ else "\n".join(f"{name}: {line}" for name, line in SUITES.items()))


@app.command()
def check(
    suite: Annotated[str, typer.Argument(help="A built-in suite or a JSONL task file.")],
    level: Level = None,
    json_: Json = False,
) -> None:
    """Read a suite as `map` would, split it, and count.

    Example: headatlas suite check tasks.jsonl
    """
    from headatlas.suites import load_suite
    from headatlas.suites.suite import SPLITS

    chosen = load_suite(suite, level)
    splits = chosen.split()
    rows = [
        {
            "task": task,
            "examples": len(task_examples := chosen.of(task)),
            "groups": len({example.group for example in task_examples}),
            "templates": len({example.template for example in task_examples}),
            "twins": sum(example.counterfactual is not None for example in task_examples),
            **{split: len(splits[split].of(task)) for split in SPLITS},
        }
        for task in chosen.tasks
    ]
    if json_:
        typer.echo(json.dumps({"suite": chosen.name, "fingerprint": chosen.fingerprint, "tasks": rows}, indent=2))
        return
    from rich.table import Table

    from headatlas.views.terminal import plain_console

    table = Table(*rows[0], box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(str, row.values()))
    plain_console().print(table)


@app.command()
def audit(
    suite: Annotated[str, typer.Argument(help="A built-in suite or a JSONL task file.")],
    model: Annotated[str | None, typer.Option(help="Also compare lengths in the tokens of this model.")] = None,
    level: Level = None,
    json_: Json = False,
) -> None:
    """Look for what the texts give away: length, format, frequent answers, options that betray the answer.

    Example: headatlas suite audit tasks.jsonl --model smollm2
    """
    from headatlas.progress import Reporter
    from headatlas.suites import load_suite
    from headatlas.suites.audit.audit import audit as run_audit

    reporter = Reporter(quiet=json_)
    chosen = load_suite(suite, level)
    tokens = _token_lengths(model, reporter) if model else None
    with reporter.spinner(f"Auditing {len(chosen.examples)} examples"):
        checks = run_audit(chosen, tokens=tokens)
    if json_:
        typer.echo(json.dumps([check.row() for check in checks], indent=2, allow_nan=False))
        return
    from rich.table import Table
    from rich.text import Text

    from headatlas.views.terminal import plain_console

    colours = {"good": "green", "warning": "yellow", "bad": "red"}
    table = Table("verdict", "check", "task", box=None, pad_edge=False)
    table.add_column("value", justify="right")
    table.add_column("limit", justify="right")
    for check in checks:
        limit = "" if check.limit is None else f"{check.limit:g}"
        table.add_row(Text(check.verdict, colours[check.verdict]), check.name, check.task, f"{check.value:.3f}", limit)
    console = plain_console()
    console.print(table)
    counts = {verdict: sum(check.verdict == verdict for check in checks) for verdict in colours}
    console.print(f"\n{len(checks)} checks: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    for check in checks:
        if check.verdict != "good":
            console.print(Text(check.verdict, colours[check.verdict]), f"{check.name}: {check.note}", soft_wrap=True)


def _token_lengths(model: str, reporter: Reporter) -> dict[str, Callable[[Example], int]]:
    from headatlas.model.loading import load
    from headatlas.run.encoding import Encoder

    encoder = Encoder(load(model, reporter=reporter))

    def prompt(example: Example) -> int:
        return encoder.encode(example)[0].start

    def answer(example: Example) -> int:
        option = encoder.encode(example)[0]
        return len(option.tokens) - option.start

    return {"prompt length in tokens": prompt, "answer length in tokens": answer}


Out = Annotated[Path, typer.Option("--out", "-o", help="The JSONL task file to write.")]


@importer.command()
def cogqa(file: Annotated[Path, typer.Argument(help="A CogQA JSON file.")], out: Out) -> None:
    """Import questions with steps; what is left out is counted and named.

    Example: headatlas suite import cogqa cogqa_train.json -o cogqa.jsonl
    """
    from headatlas.suites.chains.chain import chain_examples
    from headatlas.suites.importers.cogqa import read_cogqa

    chains, report = read_cogqa(file)
    _write(out, [example for chain in chains for example in chain_examples(chain)])
    typer.echo("\n".join(report.lines()))


@importer.command("reasoning-gym")
def reasoning_gym(
    name: Annotated[str, typer.Argument(help="A data set of reasoning-gym, such as basic_arithmetic.")],
    out: Out,
    n: Annotated[int, typer.Option("-n", help="How many entries.")] = 300,
    seed: Annotated[int, typer.Option(help="The seed of the generator.")] = 0,
) -> None:
    """Import a procedural task from the optional package reasoning-gym.

    Example: headatlas suite import reasoning-gym basic_arithmetic -o sums.jsonl
    """
    from headatlas.suites.importers.procedural import read_reasoning_gym

    _write(out, read_reasoning_gym(name, n, seed))


def _write(out: Path, examples: list[Example]) -> None:
    from headatlas.files import write_bytes
    from headatlas.suites.suite import to_jsonl

    write_bytes(out, to_jsonl(examples).encode())
    typer.echo(f"{len(examples)} examples written to {out}.")
