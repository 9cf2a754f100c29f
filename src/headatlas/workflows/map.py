"""`headatlas.map`: check everything, then run the methods and write the atlas."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.lock import locked
from headatlas.atlas.records import HeadMap
from headatlas.atlas.run_record import FILE as RUN
from headatlas.atlas.run_record import AuditRecord, ModelRecord, RunRecord, SuiteRecord, write_run
from headatlas.atlas.writing import write_competence
from headatlas.errors import HeadAtlasError
from headatlas.files import remove
from headatlas.methods.base import Method
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.cells import CellsFailed
from headatlas.run.context import RunContext
from headatlas.run.store import FolderStore
from headatlas.stats import too_few_groups
from headatlas.suites.audit.audit import audit
from headatlas.suites.suite import SPLITS, Suite
from headatlas.views.rounding import rounding_warning
from headatlas.views.terminal.stages import competence_line, method_line
from headatlas.wording import elapsed
from headatlas.workflows.choose_methods import in_turn
from headatlas.workflows.executors import Executor, Slurm, choose_executor
from headatlas.workflows.growth import Growth, replaced, tested_maps
from headatlas.workflows.lead import lead
from headatlas.workflows.order import Order, make_order, needed_order, write_order
from headatlas.workflows.plan import announce
from headatlas.workflows.prepare import Prepared, check, check_folder, prepare
from headatlas.workflows.presets import DEFAULT
from headatlas.workflows.publish import FILES, drop_other_figures, publish
from headatlas.workflows.stages import Judged, follow

TABLES = ("scores.parquet", "competence.parquet", "diagnostics.parquet", "noise.parquet")


def map_heads(
    model: HeadModel | str | Path = "smollm2",
    suite: Suite | str | Path = "cognitive",
    methods: Sequence[str | Method] | None = None,
    *,
    tasks: Sequence[str] | None = None,
    preset: str = DEFAULT,
    out: str | Path = "atlas",
    limit: int | None = None,
    seeds: int | None = None,
    metric: str | None = None,
    baseline: str | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    level: int | None = None,
    chat: bool = False,
    at_chance: bool = False,
    known_only: bool = False,
    load_options: Mapping[str, Any] | None = None,
    command: str | None = None,
    report: bool = True,
    workers: int | None = None,
    executor: str | Executor | Slurm = "local",
    reporter: Reporter | None = None,
) -> Atlas:
    """Map what every head of `model` does for every task of `suite`, and write the atlas to `out`.

    An atlas that is already there is continued: finished cells are reused where their inputs are the same. Nothing is
    written before everything that was asked for has been checked. A task on which the intact model is at chance is
    mapped only if it is named in `tasks` or with `at_chance`; `known_only` maps from the items the model gets right.
    `metric` ("margin" or "logprob") and `baseline` ("twin", "pair", "mean", "zero" or "resample") go to every method
    that has them; by default they follow from what the examples have. `settings` are settings of methods by their
    names, such as {"probe": {"kind": "paper"}}. Without `report`, figures, report.md and report.html are left out.
    Cells are shared out among so many `workers` (one unless given), which are processes of this machine, or elsewhere
    with the `executor` "ray" or "slurm"; the atlas has the same bytes.

    The atlas can be read while it grows: competence is written and published first, then the maps of one method after
    the other, quick methods first; `atlas.run.pending` names those that are still to come.
    """
    reporter, out = reporter or Reporter(), Path(out)
    parameters = {
        "model": model, "suite": suite, "methods": methods, "tasks": tasks, "preset": preset, "limit": limit,
        "seeds": seeds, "metric": metric, "baseline": baseline, "settings": settings, "level": level, "chat": chat,
        "at_chance": at_chance, "known_only": known_only, "load_options": load_options, "command": command,
        "report": report,
    }  # fmt: skip
    if isinstance(executor, str):
        executor = choose_executor(executor, workers)
    return make_map(parameters, out, executor, reporter)


def make_map(
    parameters: Mapping[str, Any], out: Path, executor: Executor | Slurm, reporter: Reporter, gather: bool = False
) -> Atlas:
    """`headatlas.map` with its `parameters`. With `gather`, cells must come from the same versions and kind of device
    as those of the workers that were there before."""
    order = make_order(parameters)
    check_folder(out)
    if isinstance(executor, Slurm):
        return _submit(parameters, needed_order(order), out, executor, reporter)
    if executor.workers > 1:
        needed_order(order)
    try:
        threads = executor.enter()
        ready = prepare(parameters, out, reporter)
        plan = announce(ready.context, ready.methods, reporter, executor.workers, ready.settings.known_only)
        with locked(out):
            order = order and order.model_copy(update={"threads": threads})
            with lead(out, order, executor, ready.context, plan, reporter, gather) as context:
                earlier = Atlas(out).run if (out / RUN).exists() else None
                tested = tested_maps(out, earlier)
                record = _begin(context, ready, out, earlier, reporter)
                if earlier and earlier.finished and (sentence := replaced(earlier, record, out)):
                    reporter.say(sentence)
                for name in (*TABLES, *FILES):
                    remove(out / name)
                growth = Growth(record, out, context.model.name, tested)
                return _run(ready, context, growth, parameters["report"], reporter)
    finally:
        executor.stop()


def _submit(parameters: Mapping[str, Any], order: Order, out: Path, executor: Slurm, reporter: Reporter) -> Atlas:
    """Leave everything to jobs, the first of which makes the atlas: only they have the devices."""
    check(parameters)
    out = out.resolve()
    with locked(out):
        FolderStore(out).lead()
        write_order(out, order.model_copy(update={"threads": executor.threads}))
    executor.submit(out, order, reporter)
    return Atlas(out)


def _begin(context: RunContext, ready: Prepared, out: Path, earlier: RunRecord | None, reporter: Reporter) -> RunRecord:
    """The record of a run that has just begun, written."""
    model, suite = context.model, ready.suite
    record = RunRecord(
        asked=ready.asked,
        model=ModelRecord(
            name=model.name,
            type=model.model_type,
            fingerprint=context.model_fingerprint,
            layers=model.n_layers,
            heads=model.n_heads,
            kv_heads=model.n_kv_heads,
            head_dim=model.head_dim,
            dtype=str(model.dtype).removeprefix("torch."),
            device=model.device.type,
            kernel=model.kernel,
            quantized=model.quantized,
        ),
        suite=SuiteRecord(
            name=suite.name,
            fingerprint=suite.fingerprint,
            tasks=list(suite.tasks),
            examples={split: len(context.splits[split].examples) for split in SPLITS},
            low_level=list(suite.knowledge.low_level),
            high_level=list(suite.knowledge.high_level),
            showcase=list(suite.knowledge.showcase),
        ),
        settings=ready.settings,
        versions={name: version(name) for name in ("headatlas", "torch", "transformers", "numpy", "scipy")}
        | {"python": platform.python_version()},
        audit=_audit(suite, earlier, reporter),
        started=_now(),
        pending=[method.info.name for method in in_turn(ready.methods)],
    )
    write_run(out, record)
    return record


def _run(ready: Prepared, context: RunContext, growth: Growth, report: bool, reporter: Reporter) -> Atlas:
    """Competence, then method by method; after each of them the atlas is written, its best sentence said, and the
    page published as soon as the next one has something to compute."""
    began = stage_began = time.monotonic()
    failed: list[str] = []
    shown: Atlas | None = None

    def show(grown: Atlas) -> None:
        nonlocal shown
        publish(grown, reporter, since=shown)
        shown = grown

    for stage in follow(context, ready.methods, ready.named, growth.record.settings):
        ended = time.monotonic()
        if isinstance(stage, Judged):
            for method in ready.methods:
                if method not in stage.methods:
                    only = f"it compares tasks, and there is only {stage.tasks[0]}."
                    reporter.say(f"{method.info.name} is left out: {only}")
            growth.record.rounding = stage.rounding
            write_competence(growth.out, stage.entries)
            atlas = growth.begin(stage.methods)
            reporter.say(competence_line(atlas, ended - stage_began))
        elif isinstance(stage.measured, CellsFailed):
            failed.append(f"{stage.method.info.name}: {stage.measured}")
            reporter.say(f"{stage.method.info.name} is left out, because cells of it failed.")
        else:
            atlas = growth.add(stage.method, stage.measured, context.runner, _now(), ended - began)
            reporter.say(method_line(atlas, stage.method.info, ended - stage_began))
        is_new = report and bool(atlas.run.pending) and atlas is not shown
        context.runner.before = partial(show, atlas) if is_new else None
        stage_began = time.monotonic()
    if failed:
        context.runner.publish()
        raise HeadAtlasError(" ".join(failed))
    computed, reused = len(context.runner.computed), len(context.runner.reused)
    took = elapsed(time.monotonic() - began)
    reporter.say(f"{computed} cells computed, {reused} reused from an earlier run in {growth.out}, in {took}.")
    for remark in (*_without_intervals(growth.maps), rounding_warning(atlas)):
        if remark:
            reporter.say(remark)
    if report:
        publish(atlas, reporter)
        drop_other_figures(atlas)
    return atlas


def _without_intervals(maps: Sequence[HeadMap]) -> list[str]:
    """Which maps have neither intervals nor p, for lack of groups: every reason once."""
    tasks: dict[tuple[str, str], dict[str, None]] = {}
    for head_map in maps:
        reason = too_few_groups(head_map.summary.groups) if head_map.summary.groups else None
        if reason:
            tasks.setdefault((head_map.method, reason), {})[head_map.task] = None
    return [f"{method}: no interval and no p for {', '.join(of)}: {why}." for (method, why), of in tasks.items()]


def _audit(suite: Suite, earlier: RunRecord | None, reporter: Reporter) -> list[AuditRecord]:
    """What the texts of the suite give away; taken over from an earlier run on the same suite by the same version."""
    if earlier is not None:
        same_version = earlier.versions.get("headatlas") == version("headatlas")
        if earlier.suite.fingerprint == suite.fingerprint and same_version:
            return earlier.audit
    with reporter.spinner("Auditing the suite"):
        return [AuditRecord(**check.row()) for check in audit(suite)]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
