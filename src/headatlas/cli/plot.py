"""headatlas plot: draw a figure of an atlas."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headatlas.cli.help import listed, with_epilog

EXAMPLES = """Examples:
  headatlas plot atlas --method ablate --out ablation.pdf
  headatlas plot atlas --figure mask"""


def _figures() -> str:
    from headatlas.views.figures.registry import figure_list

    return listed("Figures", figure_list())


Command = with_epilog(lambda: "\n\n".join([_figures(), EXAMPLES]))


def run(
    atlas: Annotated[Path, typer.Argument(help="The atlas folder.")],
    figure: Annotated[str, typer.Option(help="Which figure; they are listed below.")] = "importance",
    method: Annotated[
        str | None,
        typer.Option(help="Whose map or evidence; the atlas's default method unless given."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A .png, .svg or .pdf file; by default both in the atlas's figures folder.")
    ] = None,
) -> None:
    """Draw a figure again, for instance from another method or as PDF."""
    from headatlas.atlas.atlas import Atlas

    opened = Atlas(atlas)
    suffix = f"-{method}" if method else ""
    folder = opened.path / "figures"
    for path in [out] if out else [folder / f"{figure}{suffix}.{kind}" for kind in ("png", "svg")]:
        opened.plot(figure, method, path)
        typer.echo(path)
