"""headatlas suite: what suites there are, and whether a task file is good."""

from __future__ import annotations

import json
from typing import Annotated

import typer

app = typer.Typer(help="List suites and check task files.", no_args_is_help=True)


@app.command("list")
def list_(json_: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False) -> None:
    """List the built-in suites."""
    from headatlas.suites import SUITES

    typer.echo(json.dumps(SUITES, indent=2) if json_ else "\n".join(f"{name}: {line}" for name, line in SUITES.items()))


@app.command()
def check(
    suite: Annotated[str, typer.Argument(help="A built-in suite or a JSONL task file.")],
    level: Annotated[int, typer.Option(help="Difficulty of a built-in suite: 1, 2 or 3.")] = 1,
    json_: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
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
            "examples": len(own := chosen.of(task)),
            "groups": len({example.group for example in own}),
            "templates": len({example.template for example in own}),
            "twins": sum(example.counterfactual is not None for example in own),
            **{split: len(splits[split].of(task)) for split in SPLITS},
        }
        for task in chosen.tasks
    ]
    if json_:
        typer.echo(json.dumps({"suite": chosen.name, "fingerprint": chosen.fingerprint, "tasks": rows}, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(*rows[0], box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(str, row.values()))
    Console(highlight=False).print(table)
