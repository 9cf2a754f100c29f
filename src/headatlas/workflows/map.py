"""`headatlas.map`: check everything, then run the methods and write the atlas."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.lock import locked
from headatlas.atlas.records import HeadMap
from headatlas.atlas.run_record import (
    Asked,
    AuditRecord,
    MapSettings,
    ModelRecord,
    RunRecord,
    SuiteRecord,
    write_run,
)
from headatlas.atlas.writing import write_competence
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.files import remove
from headatlas.methods.base import Method
from headatlas.model.heads import HeadModel
from headatlas.model.loading import load
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.competence import competence
from headatlas.run.context import RunContext
from headatlas.run.encoding import Encoder
from headatlas.run.rounding import rounding_noise
from headatlas.run.selection import select, split_examples
from headatlas.stats import too_few_groups
from headatlas.suites.audit.audit import audit
from headatlas.suites.suite import SPLITS, Suite
from headatlas.views.rounding import rounding_warning
from headatlas.views.terminal.stages import competence_line, method_line
from headatlas.workflows.choose_methods import in_turn, usable_methods
from headatlas.workflows.growth import Growth, tested_maps
from headatlas.workflows.plan import announce
from headatlas.workflows.presets import DEFAULT
from headatlas.workflows.publish import FILES, drop_other_figures, publish
from headatlas.workflows.request import check_request

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
    reporter: Reporter | None = None,
) -> Atlas:
    """Map what every head of `model` does for every task of `suite`, and write the atlas to `out`.

    An atlas that is already there is continued: finished cells are reused where their inputs are the same. Nothing is
    written before everything that was asked for has been checked. A task on which the intact model is at chance is
    mapped only if it is named in `tasks` or with `at_chance`; `known_only` maps from the items the model gets right.
    `metric` ("margin" or "logprob") and `baseline` ("twin", "pair", "mean", "zero" or "resample") go to every method
    that has them; by default they follow from what the examples have. `settings` are settings of methods by their
    names, such as {"probe": {"kind": "paper"}}. Without `report`, figures, report.md and report.html are left out.

    The atlas can be read while it grows: competence is written and published first, then the maps of one method after
    the other, quick methods first; `atlas.run.pending` names those that are still to come.
    """
    reporter = reporter or Reporter()
    asked_for = check_request(
        suite, methods, preset, tasks=tasks, limit=limit, seeds=seeds, metric=metric, baseline=baseline,
        settings=settings, level=level,
    )  # fmt: skip
    chosen, ready = asked_for.suite, asked_for.methods
    how = MapSettings(
        preset=preset,
        limits=asked_for.limits,
        chat=chat,
        at_chance=at_chance or bool(tasks),
        known_only=known_only,
        methods={method.info.name: asdict(method) for method in ready},  # type: ignore[call-overload]
    )
    splits = split_examples(chosen, how.limits, how.split_seed)
    out = _checked_folder(Path(out))
    asked = Asked(
        model=None if isinstance(model, HeadModel) else str(model),
        load={key: str(value).removeprefix("torch.") for key, value in (load_options or {}).items() if value},
        suite=None if isinstance(suite, Suite) else str(suite),
        level=level,
        tasks=list(tasks) if tasks else None,
        command=command,
    )
    if not isinstance(model, HeadModel):
        model = load(model, reporter=reporter, **(load_options or {}))
    context = RunContext(model, splits, Runner(out / "cells", reporter), Encoder(model, chat))
    _check_examples(context, ready)
    announce(context, ready, reporter)
    with locked(out):
        earlier = tested_maps(out)
        record = _begin(context, chosen, how, asked, ready, out, reporter)
        for name in (*TABLES, *FILES):
            remove(out / name)
        growth = Growth(record, out, model.name, earlier)
        return _run(context, ready, methods is not None, growth, report, reporter)


def _checked_folder(out: Path) -> Path:
    """Refuse to write into something that is not ours."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"`out` {out} is a file; give a folder.")
    try:
        left_behind = {".lock", ".run.json.tmp"}  # by a run that was killed before its first file
        has_record = (out / "run.json").exists()
        if out.is_dir() and not has_record and {path.name for path in out.iterdir()} - left_behind:
            raise UsageError(f"The folder {out} is not empty and not an atlas. Give an empty or a new folder as `out`.")
        if has_record:
            Atlas(out)
    except OSError as error:
        raise HeadAtlasError(f"Cannot use the folder {out}: {error.strerror}. Choose another `out`.") from None
    return out


def _check_examples(context: RunContext, methods: Sequence[Method]) -> None:
    """Everything that could be wrong with the examples shows before anything is written."""
    for task in context.tasks:
        for split in SPLITS:
            for example in context.examples(task, split):
                context.encoder.encode(example)
    for method in methods:
        method.check_examples(context)


def _begin(
    context: RunContext,
    suite: Suite,
    how: MapSettings,
    asked: Asked,
    methods: Sequence[Method],
    out: Path,
    reporter: Reporter,
) -> RunRecord:
    """The record of a run that has just begun, written."""
    model = context.model
    record = RunRecord(
        asked=asked,
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
        settings=how,
        versions={name: version(name) for name in ("headatlas", "torch", "transformers", "numpy", "scipy")}
        | {"python": platform.python_version()},
        audit=_audit(suite, out, reporter),
        started=_now(),
        pending=[method.info.name for method in in_turn(methods)],
    )
    write_run(out, record)
    return record


def _run(
    context: RunContext, methods: Sequence[Method], named: bool, growth: Growth, report: bool, reporter: Reporter
) -> Atlas:
    """Competence, then method by method; after each of them the atlas is written, its best sentence said, and the
    page published as soon as the next one has something to compute."""
    began, settings = time.monotonic(), growth.record.settings
    entries, known = competence(context)
    entries, context = select(context, entries, known, settings.at_chance, settings.known_only)
    usable = usable_methods(methods, context.tasks, named)
    for method in methods:
        if method not in usable:
            reporter.say(f"{method.info.name} is left out: it compares tasks, and there is only {context.tasks[0]}.")
    seconds = time.monotonic() - began
    growth.record.rounding = rounding_noise(context)
    write_competence(growth.out, entries)
    atlas = growth.begin(usable)
    reporter.say(competence_line(atlas, seconds))
    shown: Atlas | None = None

    def show(stage: Atlas) -> None:
        nonlocal shown
        publish(stage, reporter, since=shown)
        shown = stage

    for method in in_turn(usable):
        context.runner.before = partial(show, atlas) if report else None
        stage_began = time.monotonic()
        measured = method.measure(context)
        ended = time.monotonic()
        atlas = growth.add(method, measured, context.runner, _now(), ended - began)
        reporter.say(method_line(atlas, method.info, ended - stage_began))
    computed, reused = len(context.runner.computed), len(context.runner.reused)
    reporter.say(f"{computed} cells computed, {reused} reused from an earlier run in {growth.out}.")
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


def _audit(suite: Suite, out: Path, reporter: Reporter) -> list[AuditRecord]:
    """What the texts of the suite give away; taken over from an earlier run on the same suite by the same version."""
    if (out / "run.json").exists():
        earlier = Atlas(out).run
        same_version = earlier.versions.get("headatlas") == version("headatlas")
        if earlier.suite.fingerprint == suite.fingerprint and same_version:
            return earlier.audit
    with reporter.spinner("Auditing the suite"):
        return [AuditRecord(**check.row()) for check in audit(suite)]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
