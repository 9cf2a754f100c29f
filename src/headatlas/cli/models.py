"""headatlas models: list the models that are available, fetch the bundled one, make a planted one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="List available models, fetch the bundled one, make a planted one.", no_args_is_help=True)


@app.command("list")
def list_(json_: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False) -> None:
    """List the bundled model and what the Hugging Face cache holds."""
    from headatlas.model import bundled

    rows = [{"name": bundled.NAME, "ready": bundled.is_complete(bundled.folder()), "where": str(bundled.folder())}]
    rows += [{"name": name, "ready": True, "where": where} for name, where in _cached()]
    if json_:
        typer.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        typer.echo(f"{row['name']}  {'ready' if row['ready'] else 'not fetched yet'}  {row['where']}")
    typer.echo("Also: a model folder, a GGUF file, or a Hub id.")


def _cached() -> list[tuple[str, str]]:
    from huggingface_hub import scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        repositories = scan_cache_dir().repos
    except CacheNotFound:
        return []
    return sorted((repo.repo_id, str(repo.repo_path)) for repo in repositories if repo.repo_type == "model")


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="The bundled model.")] = "smollm2",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Fetch and convert the bundled model, so that it is there when the network is not."""
    from headatlas.errors import unknown
    from headatlas.model import bundled
    from headatlas.progress import Reporter

    if name != bundled.NAME:
        raise unknown("bundled model", name, [bundled.NAME])
    typer.echo(bundled.fetch(Reporter(quiet)))


@app.command()
def planted(
    name: Annotated[str, typer.Argument(help="Which one; `headatlas selftest --help` lists them.")],
    out: Annotated[Path, typer.Option(help="The folder that is written.")],
    seed: Annotated[int, typer.Option(help="Of its random directions, its noise and its tasks.")] = 0,
) -> None:
    """Make a small model whose heads are known, with its tasks (tasks.jsonl) and the truth about them (truth.csv).

    Example: headatlas models planted induction --out induction
    """
    from headatlas.errors import UsageError
    from headatlas.planted import PLANTED
    from headatlas.planted.folder import TASKS, save

    model = PLANTED[name]
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"`out` {out} is not empty. Give a new folder.")
    save(model, out, seed)
    typer.echo(f"{out}: {model.shows}. Map it: headatlas map --model {out} --suite {out / TASKS}")
