"""headatlas plan: what a map will cost, before it is made."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headatlas.cli.help import methods_list, with_epilog
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
)
from headatlas.cli.settings import parse_settings, shorthand

if TYPE_CHECKING:
    from rich.table import Table

    from headatlas.workflows.plan import Plan

EXAMPLES = """Examples:
  headatlas plan                                     bundled model and suite
  headatlas plan --model ./llama --preset standard   a folder; its weights are timed if they are there
  headatlas plan --model config.json --dtype bfloat16 --tokens-per-second 900"""

Command = with_epilog(lambda: "\n\n".join([methods_list(), EXAMPLES]))


def run(
    model: Annotated[
        str, typer.Option(help="smollm2, a folder, a config.json, or a Hub id in the local cache.")
    ] = "smollm2",
    suite: SuiteOption = "cognitive",
    method: Methods = None,
    task: Tasks = None,
    preset: Preset = "quick",
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
    tokenizer: Annotated[
        Path | None, typer.Option(help="A folder with a tokenizer, for a configuration that comes without.")
    ] = None,
    device: Device = None,
    dtype: Dtype = None,
    quantize: Quantize = None,
    tokens_per_second: Annotated[
        float | None, typer.Option(help="How fast the model runs, if you know it; timed or estimated otherwise.")
    ] = None,
    no_load: Annotated[bool, typer.Option("--no-load", help="Do not load weights to time them.")] = False,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say what a map will cost, from the configuration of a model: cells, forwards, tokens, time and memory.

    Nothing is written. Options that decide what is run are those of `headatlas map`.
    """
    from headatlas.progress import Reporter
    from headatlas.workflows.plan import plan_map

    plan = plan_map(
        model,
        suite,
        [name.strip() for name in method.split(",")] if method is not None else None,
        tasks=task,
        preset=preset,
        limit=limit,
        seeds=seeds,
        metric=metric,
        baseline=baseline,
        settings=parse_settings([*(set_ or ()), *shorthand(exact, gates, top, confidence)]),
        level=level,
        chat=chat,
        tokenizer=tokenizer,
        dtype=dtype,
        device=device,
        quantize=quantize,
        tokens_per_second=tokens_per_second,
        load_weights=not no_load,
        reporter=Reporter(quiet=quiet or json_),
    )
    if json_:
        typer.echo(json.dumps(_as_json(plan), indent=2))
    else:
        _print(plan)


def _print(plan: Plan) -> None:
    from headatlas.views.terminal import plain_console
    from headatlas.wording import count, gigabytes, rounded

    size, memory, console = plan.sizes, plan.memory, plain_console()
    active = "" if size.active == size.parameters else f", {rounded(size.active, 3)} active for each token"
    console.print(
        f"{plan.model}: {rounded(size.parameters, 3)} parameters in {plan.dtype}{active}; {size.layers} layers of "
        f"{count(size.heads, 'head')}; keys and values {count(size.key_values, 'byte')} for each token",
        soft_wrap=True,
    )
    console.print(_table(plan))
    console.print(
        f"Time: {plan.time} at {rounded(plan.speed.tokens_per_second)} tokens/s ({plan.speed.source}).", soft_wrap=True
    )
    console.print(
        f"Memory at the peak: about {gigabytes(memory.peak)}: weights {gigabytes(memory.weights)}, and the larger of "
        f"{gigabytes(memory.backward)} for a backward (where memory is short {gigabytes(memory.checkpointed)} and one "
        f"more forward) and {gigabytes(memory.forward)} for everything else.",
        soft_wrap=True,
    )
    for sentence in filter(None, (plan.too_large, memory.beside)):
        console.print(sentence, soft_wrap=True)
    for sentence in plan.assumed:
        console.print(f"- {sentence}", soft_wrap=True)


def _table(plan: Plan) -> Table:
    from headatlas.views.terminal.console import plain_table
    from headatlas.wording import duration, gigabytes

    table = plain_table(
        ("stage", "cells", "forwards", "tokens", "at most", "time", "memory"),
        title=f"What a map of {plan.suite} will run",
    )
    for stage in plan.stages:
        table.add_row(
            stage.name,
            f"{stage.cells:,}",
            f"{stage.forwards:,}",
            f"{stage.tokens:,}",
            "exact" if stage.exact else f"{stage.most:,}",
            duration(plan.seconds_of(stage.tokens)),
            gigabytes(stage.memory),
        )
    cells, forwards = (sum(getattr(stage, name) for stage in plan.stages) for name in ("cells", "forwards"))
    table.add_row(
        "all", f"{cells:,}", f"{forwards:,}", f"{plan.tokens:,}", f"{plan.most:,}", duration(plan.seconds),
        gigabytes(max(plan.memory.backward, plan.memory.forward)),
    )  # fmt: skip
    return table


def _as_json(plan: Plan) -> dict[str, Any]:
    low, high = plan.range
    return {
        **asdict(plan),
        "tokens": plan.tokens,
        "most": plan.most,
        "seconds": plan.seconds,
        "seconds_low": low,
        "seconds_high": high,
        "memory": {**asdict(plan.memory), "peak": plan.memory.peak},
    }
