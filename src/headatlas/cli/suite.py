"""headatlas suite: what suites there are, whether one is good and fair, and how to bring in others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headatlas.cli.options import Json, Level

if TYPE_CHECKING:
    from collections.abc import Callable

    from headatlas.progress import Reporter
    from headatlas.run.context import RunContext
    from headatlas.run.encoding import Encoder
    from headatlas.run.readiness import Readiness
    from headatlas.suites.example import Example
    from headatlas.suites.suite import Suite

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
    model: Annotated[
        str | None,
        typer.Option(help="Also say which twins can be aligned in the tokens of this model, and what `map` would do."),
    ] = None,
    level: Level = None,
    json_: Json = False,
) -> None:
    """Read a suite as `map` would, split it, and count examples, groups, twins and options that begin another.

    With --model: `aligned` examples can be measured with their twin, `lent` ones with another example as a twin,
    `nested` ones have an option that begins another in tokens; baseline and metric are the defaults of `map`.

    Example: headatlas suite check tasks.jsonl --model smollm2
    """
    from headatlas.progress import Reporter
    from headatlas.suites import load_suite
    from headatlas.suites.options import any_cut_short
    from headatlas.suites.suite import SPLITS

    chosen = load_suite(suite, level)
    splits = chosen.split()
    rows: list[dict[str, Any]] = [
        {
            "task": task,
            "examples": len(task_examples := chosen.of(task)),
            "groups": len({example.group for example in task_examples}),
            "templates": len({example.template for example in task_examples}),
            **{split: len(splits[split].of(task)) for split in SPLITS},
            "twins": sum(example.counterfactual is not None for example in task_examples),
            "nested": sum(any_cut_short((example.answer, *example.distractors)) for example in task_examples),
        }
        for task in chosen.tasks
    ]
    if model:
        ready = {entry.task: entry for entry in _readiness(chosen, model, Reporter(quiet=json_))}
        rows = [row | ready[row["task"]].columns() for row in rows]
    if json_:
        typer.echo(json.dumps({"suite": chosen.name, "fingerprint": chosen.fingerprint, "tasks": rows}, indent=2))
        return
    from rich.table import Table

    from headatlas.views.terminal import plain_console

    console = plain_console()
    table = Table(*rows[0], box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(str, row.values()))
    console.print(table)
    if nested := sum(row["nested"] for row in rows):
        console.print(
            f"\nIn {nested} examples an option begins another, so it is always at least as likely (nested). A forced "
            "choice counts it without the longer one; better, give options that differ from their beginning.",
            soft_wrap=True,
        )


@app.command()
def audit(
    suite: Annotated[str, typer.Argument(help="A built-in suite or a JSONL task file.")],
    model: Annotated[
        str | None, typer.Option(help="Also compare lengths, twins and options in the tokens of this model.")
    ] = None,
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
    context = _context(chosen, model, reporter) if model else None
    with reporter.spinner(f"Auditing {len(chosen.examples)} examples"):
        checks = run_audit(chosen, tokens=_token_lengths(context.encoder) if context else None)
        if context:
            from headatlas.run.readiness import readiness

            checks += [check for entry in readiness(context) for check in entry.checks()]
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


def _context(suite: Suite, model: str, reporter: Reporter) -> RunContext:
    """All examples of a suite with the tokenizer of a model; nothing is run and nothing is written."""
    from headatlas.model.loading import load
    from headatlas.run.cells import Runner
    from headatlas.run.context import RunContext
    from headatlas.run.encoding import Encoder

    loaded = load(model, reporter=reporter)
    return RunContext(loaded, suite.split(), Runner(Path("cells"), reporter), Encoder(loaded))


def _readiness(suite: Suite, model: str, reporter: Reporter) -> list[Readiness]:
    from headatlas.run.readiness import readiness

    context = _context(suite, model, reporter)
    with reporter.spinner(f"Aligning {len(suite.examples)} examples with their twins"):
        return readiness(context)


def _token_lengths(encoder: Encoder) -> dict[str, Callable[[Example], int]]:
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
