"""headatlas map: measure the heads and write an atlas."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headatlas.cli.help import methods_list, settings_list, with_epilog
from headatlas.cli.options import Baseline, Device, Json, Level, Metric, Quiet, TrustRemoteCode
from headatlas.cli.settings import parse_settings
from headatlas.errors import Interrupted, UsageError

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

EXAMPLES = """Examples:
  headatlas map                                    bundled model and suite
  headatlas map --model ./llama --preset standard  your model, more exact examples
  headatlas map --suite tasks.jsonl --out mine     your tasks
  headatlas map --task retrieval --method ablate   one task, one method
  headatlas map --method probe --set probe.kind=paper
  headatlas map --method contrast --set contrast.keep=Retrieval --set contrast.forget=Inference"""

Command = with_epilog(lambda: "\n\n".join([methods_list(), settings_list(), EXAMPLES]))


def run(
    model: Annotated[str, typer.Option(help="smollm2 (bundled), a folder, a GGUF file, or a Hub id.")] = "smollm2",
    suite: Annotated[str, typer.Option(help="A built-in suite or a JSONL task file.")] = "cognitive",
    method: Annotated[str | None, typer.Option(help="Methods, separated by commas; see below.")] = None,
    task: Annotated[list[str] | None, typer.Option(help="Only this task; may be repeated.")] = None,
    preset: Annotated[str, typer.Option(help="How much is measured: quick, standard or paper.")] = "quick",
    out: Annotated[Path, typer.Option(help="The atlas folder; an unfinished run in it is continued.")] = Path("atlas"),
    limit: Annotated[int | None, typer.Option(help="Examples per task; the preset's by default.")] = None,
    seeds: Annotated[int | None, typer.Option(help="Repetitions of what is random; the preset's by default.")] = None,
    metric: Metric = None,
    baseline: Baseline = None,
    exact: Annotated[
        str | None,
        typer.Option(help="Examples per task that ablate measures exactly for every head: a number, or all."),
    ] = None,
    gates: Annotated[
        str | None,
        typer.Option(help="binary: gates that are open or closed, or paper: gates that scale heads, as published."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="METHOD.SETTING=VALUE", help="A setting of a method; may be repeated."),
    ] = None,
    level: Level = None,
    chat: Annotated[bool, typer.Option("--chat", help="Put prompts into the tokenizer's chat template.")] = False,
    at_chance: Annotated[
        bool, typer.Option("--at-chance", help="Also map tasks that the intact model cannot do.")
    ] = False,
    known_only: Annotated[
        bool, typer.Option("--known-only", help="Map only from items that the intact model gets right.")
    ] = False,
    device: Device = None,
    device_map: Annotated[str | None, typer.Option(help="Passed on to transformers, such as auto.")] = None,
    dtype: Annotated[str | None, typer.Option(help="float32, bfloat16, float16 or auto.")] = None,
    trust_remote_code: TrustRemoteCode = False,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure what every head does for every task, and write an atlas.

    Where examples have twins (the field counterfactual), a head is replaced by what it does on the twin, and the answer
    is compared with the twin's. `headatlas suite check SUITE --model M` says beforehand what your tasks allow.
    """
    from headatlas.progress import Reporter
    from headatlas.workflows.map import map_heads

    if exact is not None and exact != "all" and not exact.isdecimal():
        raise UsageError(f"--exact {exact} was given; write a number of examples, or all.")
    shorthand = [f"ablate.exact={exact}"] * bool(exact) + [f"gate.gates={gates}"] * bool(gates)
    command = shlex.join(["headatlas", *sys.argv[1:]])
    try:
        atlas = map_heads(
            model,
            suite,
            [name.strip() for name in method.split(",")] if method else None,
            tasks=task,
            preset=preset,
            out=out,
            limit=limit,
            seeds=seeds,
            metric=metric,
            baseline=baseline,
            settings=parse_settings([*(set_ or ()), *shorthand]),
            level=level,
            chat=chat,
            at_chance=at_chance,
            known_only=known_only,
            load_options={
                "device": device,
                "device_map": device_map,
                "dtype": dtype,
                "trust_remote_code": trust_remote_code,
            },
            command=command,
            reporter=Reporter(quiet=quiet or json_),
        )
    except KeyboardInterrupt:
        raise Interrupted(f"Interrupted. Nothing that was finished is lost; continue with: {command}") from None
    if json_:
        _print_json(atlas)
    elif not quiet:
        _print(atlas)


def _print(atlas: Atlas) -> None:
    from headatlas.views.terminal import competence_table, note_tables, plain_console, print_maps

    console = plain_console()
    print_maps(console, atlas, atlas.tasks, None)
    console.print(competence_table(atlas))
    for note in note_tables(atlas):
        console.print(note)
    supported = [finding.statement for finding in atlas.findings if finding.supported]
    console.print("\nStrongest findings" if supported else "\nNo pattern of these maps survives correction.")
    for statement in supported[:5]:
        console.print(f"  - {statement}", soft_wrap=True)
    console.print(f"\nAtlas: {atlas.path}   page: {atlas.path / 'report.html'}", soft_wrap=True)
    console.print(f"Test these maps: {shlex.join(['headatlas', 'verify', str(atlas.path)])}", soft_wrap=True)


def _print_json(atlas: Atlas) -> None:
    import json

    outcome = {
        "atlas": str(atlas.path),
        "tasks": atlas.tasks,
        "methods": atlas.methods,
        "default_method": atlas.run.default_method,
        "cells": atlas.run.cells.model_dump() if atlas.run.cells else None,
        "seconds": atlas.run.seconds,
        "competence": json.loads(atlas.competence.to_json(orient="records")),
    }
    typer.echo(json.dumps(outcome, indent=2))
