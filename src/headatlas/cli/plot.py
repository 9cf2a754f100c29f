"""headatlas plot: draw a figure of an atlas."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def run(
    atlas: Annotated[Path, typer.Argument(help="The atlas folder.")],
    figure: Annotated[str, typer.Option(help="Which figure; they are listed above.")] = "importance",
    method: Annotated[
        str | None,
        typer.Option(help="Which method's map, or whose evidence; the most complete by default."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A .png, .svg or .pdf file; by default both in the atlas's figures folder.")
    ] = None,
) -> None:
    """Draw a figure again, for instance from another method or as PDF.

    \b
    Figures:
      importance          the maps: every head of every task
      profiles            importance by layer
      elbow               importance in order beside its shuffled-label null
      mask                what a task loses without the heads of its map
      mask_accuracy       the same for accuracy
      keep                what the heads of a map carry by themselves
      specificity         what the heads of each task do to all the others
      hierarchy           what high-level steps lose without low-level heads
      steer               what pushing or scaling heads gains and costs
      roles               heads that help or hinder, in every seed and in any
      role_maps           facilitation, irrelevance and interference
      role_distributions  how far the gates decide
      gate_curves         the course of fitting the gates
      order               what a task loses as heads go, role by role
    The probe makes elbow, the gates roles to gate_curves; mask to steer and order
    show evidence: headatlas verify DIR

    \b
    Examples:
      headatlas plot atlas --method ablate --out ablation.pdf
      headatlas plot atlas --figure mask
    """
    from headatlas.atlas.atlas import Atlas

    opened = Atlas(atlas)
    suffix = f"-{method}" if method else ""
    folder = opened.path / "figures"
    for path in [out] if out else [folder / f"{figure}{suffix}.{kind}" for kind in ("png", "svg")]:
        opened.plot(figure, method, path)
        typer.echo(path)
