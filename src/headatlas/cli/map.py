"""headatlas map: measure the heads and write an atlas."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headatlas.cli.help import methods_list, settings_list, with_epilog
from headatlas.cli.options import (
    Baseline,
    Chat,
    Confidence,
    Device,
    Dtype,
    Exact,
    Gates,
    Json,
    Level,
    Limit,
    Methods,
    Metric,
    Preset,
    Quantize,
    Quiet,
    Seeds,
    Settings,
    SuiteOption,
    Tasks,
    Top,
    TrustRemoteCode,
)
from headatlas.cli.settings import parse_settings, shorthand
from headatlas.errors import Interrupted

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

EXAMPLES = """Examples:
  headatlas map                                    bundled model and suite
  headatlas map --model ./llama --preset standard  your model, more exact examples
  headatlas map --suite tasks.jsonl --out mine     your tasks
  headatlas map --task retrieval --method ablate   one task, one method
  headatlas map --method ablate --top 10           settle the ten strongest heads of each task
  headatlas map --method probe --set probe.kind=paper
  headatlas map --method contrast --set contrast.keep=Retrieval --set contrast.forget=Inference"""

Command = with_epilog(lambda: "\n\n".join([methods_list(), settings_list(), EXAMPLES]))


def run(
    model: Annotated[str, typer.Option(help="smollm2 (bundled), a folder, a GGUF file, or a Hub id.")] = "smollm2",
    suite: SuiteOption = "cognitive",
    method: Methods = None,
    task: Tasks = None,
    preset: Preset = "quick",
    out: Annotated[
        Path, typer.Option(help="The atlas folder; an unfinished run in it is continued, another map in it replaced.")
    ] = Path("atlas"),
    limit: Limit = None,
    seeds: Seeds = None,
    metric: Metric = None,
    baseline: Baseline = None,
    exact: Exact = None,
    top: Top = None,
    confidence: Confidence = None,
    gates: Gates = None,
    set_: Settings = None,
    level: Level = None,
    chat: Chat = False,
    at_chance: Annotated[
        bool, typer.Option("--at-chance", help="Also map tasks that the intact model cannot do.")
    ] = False,
    known_only: Annotated[
        bool, typer.Option("--known-only", help="Map only from items that the intact model gets right.")
    ] = False,
    device: Device = None,
    device_map: Annotated[str | None, typer.Option(help="Passed on to transformers, such as auto.")] = None,
    dtype: Dtype = None,
    quantize: Quantize = None,
    trust_remote_code: TrustRemoteCode = False,
    workers: Annotated[
        int | None, typer.Option(help="Processes that share the work, 1 by default; the atlas does not depend on it.")
    ] = None,
    executor: Annotated[
        str, typer.Option(help="Where workers run: local (processes of this machine), ray or slurm.")
    ] = "local",
    threads: Annotated[int | None, typer.Option(help="Threads of each worker.")] = None,
    gpus: Annotated[int | None, typer.Option(help="GPUs of each worker, with ray or slurm.")] = None,
    address: Annotated[str | None, typer.Option(help="The Ray cluster; the one that runs here by default.")] = None,
    partition: Annotated[str | None, typer.Option(help="The partition of Slurm.")] = None,
    minutes: Annotated[int | None, typer.Option("--time", help="Minutes that a job of Slurm may take; 60.")] = None,
    shard: Annotated[
        str | None, typer.Option(metavar="K/N", help="Be one of N processes that share the folder; then gather.")
    ] = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure what every head does for every task, and write an atlas.

    Where examples have twins (the field counterfactual), a head is replaced by what it does on the twin, and the answer
    is compared with the twin's. `headatlas suite check SUITE --model M` says beforehand what your tasks allow.
    """
    from headatlas.progress import Reporter
    from headatlas.workflows.executors import choose_executor
    from headatlas.workflows.map import make_map
    from headatlas.workflows.work import run_shard

    command = shlex.join(["headatlas", *sys.argv[1:]])
    reporter = Reporter(quiet=quiet or json_)
    parameters = {
        "model": model,
        "suite": suite,
        "methods": [name.strip() for name in method.split(",")] if method is not None else None,
        "tasks": task,
        "preset": preset,
        "limit": limit,
        "seeds": seeds,
        "metric": metric,
        "baseline": baseline,
        "settings": parse_settings([*(set_ or ()), *shorthand(exact, gates, top, confidence)]),
        "level": level,
        "chat": chat,
        "at_chance": at_chance,
        "known_only": known_only,
        "load_options": {
            "device": device,
            "device_map": device_map,
            "dtype": dtype,
            "quantize": quantize,
            "trust_remote_code": trust_remote_code,
        },
        "command": command,
        "report": True,
    }
    try:
        where = choose_executor(
            executor, workers, threads=threads, gpus=gpus, address=address, partition=partition, minutes=minutes
        )
        if shard is not None:
            run_shard(parameters, out, shard, where, reporter)
            return
        atlas = make_map(parameters, out, where, reporter)
    except KeyboardInterrupt:
        raise Interrupted(f"Interrupted. Nothing that was finished is lost; continue with: {command}") from None
    show(atlas, json_, quiet)


def show(atlas: Atlas, as_json: bool, quiet: bool) -> None:
    """Print what came out."""
    if as_json:
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
