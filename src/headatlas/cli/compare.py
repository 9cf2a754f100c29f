"""headatlas compare: how alike two maps are, and which heads differ."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from headatlas.cli.options import Json


def run(
    atlas: Annotated[Path, typer.Argument(help="The first atlas folder.")],
    other: Annotated[Path | None, typer.Argument(help="The second; the same atlas unless given.")] = None,
    method: Annotated[str | None, typer.Option(help="Whose maps; each atlas's default method unless given.")] = None,
    method_b: Annotated[str | None, typer.Option(help="Whose maps on the second side, if another's.")] = None,
    measure: Annotated[str | None, typer.Option(help="Which numbers; the method's first unless given.")] = None,
    measure_b: Annotated[str | None, typer.Option(help="Which numbers on the second side, if others.")] = None,
    seed: Annotated[int | None, typer.Option(help="One seed; the mean over all unless given.")] = None,
    seed_b: Annotated[int | None, typer.Option(help="The seed of the second side, if another.")] = None,
    task: Annotated[list[str] | None, typer.Option(help="Only this task; may be repeated.")] = None,
    k: Annotated[int, typer.Option("-k", help="How many first heads of each map.", min=1)] = 10,
    by: Annotated[
        str | None, typer.Option(help="heads or depth; by default heads where both models have the same shape.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder for compare.json, the figure and the page.")
    ] = Path("comparison"),
    json_: Json = False,
) -> None:
    """Compare two models, checkpoints, methods or settings: how alike their maps are, and which heads differ.

    Correlations have intervals that are about examples; differences of heads are tested against the noise of both maps,
    corrected over all heads and tasks.

    Example: headatlas compare atlas other

    Example: headatlas compare atlas --method ablate --method-b attribute
    """
    import json

    from headatlas.patterns.compare import compare
    from headatlas.workflows.compare import as_record, write_comparison

    chosen: Any = by
    comparison = compare(
        atlas, other, method=method, method_b=method_b, measure=measure, measure_b=measure_b, seed=seed, seed_b=seed_b,
        tasks=task, k=k, by=chosen,
    )  # fmt: skip
    paths = write_comparison(comparison, out)
    if json_:
        typer.echo(json.dumps(as_record(comparison), indent=2))
        return
    from headatlas.views.terminal import comparison_table, plain_console

    plain_console().print(comparison_table(comparison))
    for path in paths:
        typer.echo(path)
