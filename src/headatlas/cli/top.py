"""headatlas top: the first heads of a task, in the order of their rank, or those that several methods support."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headatlas.errors import UsageError

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.patterns import Consensus


def run(
    atlas: Annotated[Path, typer.Argument(help="The atlas folder.")],
    task: Annotated[
        str | None,
        typer.Option(help="The task; case does not matter. Not needed where there is only one, or with --consensus."),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="How many heads.", min=1)] = 10,
    method: Annotated[str | None, typer.Option(help="Whose map; the atlas's default method unless given.")] = None,
    consensus: Annotated[
        bool,
        typer.Option("--consensus", help="Only heads that at least two independent causal methods support."),
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the first heads of a task in the order of their rank, with intervals.

    With --consensus: the heads that at least two of ablate, attribute, gate and other causal methods support, each by
    its own rule. Probes do not count: they find information, not effects.

    Example: headatlas top atlas --task retrieval -k 5

    Example: headatlas top atlas --consensus
    """
    from headatlas.atlas.atlas import Atlas

    opened = Atlas(atlas)
    if consensus:
        _consensus(opened, task, k, method, json_)
        return
    if json_:
        typer.echo(opened.table(task, method).head(k).to_json(orient="records", indent=2))
        return
    from headatlas.patterns.found_again import found_again
    from headatlas.views.found_again import found_again_sentence
    from headatlas.views.terminal import plain_console, print_maps, top_table

    console = plain_console()
    task = opened.choose_task(task)
    table = top_table(opened, task, k, method)
    print_maps(console, opened, [task], method)
    console.print(table)
    for found in found_again(opened, opened.choose_method(method), task):
        console.print(found_again_sentence(found))
    if opened.run.pending:
        console.print(opened.run.still_to_come)


def _consensus(atlas: Atlas, task: str | None, k: int, method: str | None, json_: bool) -> None:
    """Of one task, or of all that at least two methods have mapped."""
    from headatlas.patterns import consensus_tasks, find_consensus

    if method is not None:
        raise UsageError("`consensus` asks all causal methods of the atlas; leave `method` out.")
    found = [find_consensus(atlas, name) for name in ([task] if task else consensus_tasks(atlas))]
    if json_:
        typer.echo(json.dumps([_as_json(one, k) for one in found], indent=2))
        return
    from headatlas.views.terminal import consensus_table, plain_console

    console = plain_console()
    for one in found:
        console.print(consensus_table(one, k, atlas.shape[0] * atlas.shape[1]))


def _as_json(consensus: Consensus, k: int) -> dict[str, Any]:
    from headatlas.views.known_heads import known_heads_line

    return {
        "task": consensus.task,
        "agreed": len(consensus.heads),
        "by_chance": consensus.by_chance,
        "methods": [
            {
                "method": witness.info.name,
                "evidence_from": witness.evidence,
                "supports": witness.criterion,
                "heads": len(witness.supported),
                "known_heads": known_heads_line(witness.info.name),
            }
            for witness in consensus.witnesses
        ],
        "heads": json.loads(consensus.rows(k).to_json(orient="records")),
    }
