"""headatlas export: an atlas as files for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headatlas.cli.help import listed, with_epilog
from headatlas.cli.options import Quiet

KINDS = {
    "csv": "heads.csv: one row per map and head",
    "json": "heads.json: the same, with the meaning of every number",
    "safetensors": "steering.safetensors: steering vectors, and steer.py, which applies them in plain transformers",
    "duo": "full_attention_heads.tsv and config.json: the pattern file of DuoAttention",
    "retrieval": "MODEL.json: head scores as Retrieval-Head reads them",
    "hub": "a dataset with its card, ready for the Hugging Face Hub; nothing is uploaded",
}
EXAMPLES = """Examples:
  headatlas export atlas --format csv -o tables
  headatlas export atlas --format duo --task Retrieval -o pattern
  headatlas export atlas --format hub -o dataset"""

Command = with_epilog(lambda: "\n\n".join([listed("Formats", KINDS.items()), EXAMPLES]))


def run(
    atlas: Annotated[Path, typer.Argument(help="The atlas folder.")],
    format_: Annotated[str, typer.Option("--format", help="One of those below.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="A new folder for the files.")],
    task: Annotated[str | None, typer.Option(help="One task; all where a format can hold them.")] = None,
    method: Annotated[str | None, typer.Option(help="Whose map; the atlas's default method unless given.")] = None,
    measure: Annotated[str | None, typer.Option(help="Which numbers; the method's first unless given.")] = None,
    model: Annotated[str | None, typer.Option(help="The model, if it has moved since it was mapped.")] = None,
    k: Annotated[int | None, typer.Option("-k", help="Heads that a steering vector pushes.")] = None,
    sinks: Annotated[int, typer.Option(help="First tokens that a streaming head of DuoAttention sees.")] = 64,
    recent: Annotated[int, typer.Option(help="Last tokens that a streaming head of DuoAttention sees.")] = 256,
    quiet: Quiet = False,
) -> None:
    """Write an atlas as files that other programs read."""
    from headatlas.progress import Reporter
    from headatlas.use.export import export

    paths = export(
        atlas,
        format_,
        out,
        task=task,
        method=method,
        measure=measure,
        model=model,
        k=k,
        sinks=sinks,
        recent=recent,
        reporter=Reporter(quiet=quiet),
    )
    if not quiet:
        for path in paths:
            typer.echo(path)
