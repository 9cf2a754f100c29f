"""From what is asked of a map to a context in which it can be run. Nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.run_record import LEFT_BEHIND, Asked, MapSettings
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.methods.base import Method
from headatlas.model.free_memory import resident_memory
from headatlas.model.heads import HeadModel
from headatlas.model.loading import load
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.context import RunContext
from headatlas.run.crew import Crew
from headatlas.run.encoding import Encoder
from headatlas.run.selection import split_examples
from headatlas.run.store import OURS
from headatlas.suites.suite import SPLITS, Suite
from headatlas.workflows.request import Request, check_request


@dataclass(frozen=True)
class Prepared:
    """A map that can be run: everything has been checked, and the model is loaded. `named`: methods were asked for by
    name."""

    context: RunContext
    suite: Suite
    methods: tuple[Method, ...]
    named: bool
    settings: MapSettings
    asked: Asked


@dataclass(frozen=True)
class Checked:
    """A map of which everything has been checked that can be without its model."""

    request: Request
    settings: MapSettings
    splits: dict[str, Suite]


def check(parameters: Mapping[str, Any]) -> Checked:
    """`parameters` are those of `headatlas.map`."""
    shared = ("tasks", "limit", "seeds", "metric", "baseline", "settings", "level")
    request = check_request(
        parameters["suite"], parameters["methods"], parameters["preset"], **{name: parameters[name] for name in shared}
    )
    settings = MapSettings(
        preset=parameters["preset"],
        limits=request.limits,
        chat=parameters["chat"],
        at_chance=parameters["at_chance"] or bool(parameters["tasks"]),
        known_only=parameters["known_only"],
        methods={method.info.name: asdict(method) for method in request.methods},  # type: ignore[call-overload]
    )
    splits = split_examples(request.suite, settings.limits, settings.split_seed)
    return Checked(request, settings, splits)


def prepare(parameters: Mapping[str, Any], out: Path, reporter: Reporter) -> Prepared:
    """Check everything, load the model, and check what depends on it. The folder is not looked at: a worker on another
    machine may not have it."""
    checked = check(parameters)
    model, suite, tasks = parameters["model"], parameters["suite"], parameters["tasks"]
    load_options = parameters["load_options"] or {}
    asked = Asked(
        model=None if isinstance(model, HeadModel) else str(model),
        load={key: str(value).removeprefix("torch.") for key, value in load_options.items() if value},
        suite=None if isinstance(suite, Suite) else str(suite),
        level=parameters["level"],
        tasks=list(tasks) if tasks else None,
        command=parameters["command"],
    )
    process = None
    if not isinstance(model, HeadModel):
        process = resident_memory()
        model = load(model, reporter=reporter, **load_options)
    runner = Runner(out / "cells", reporter, crew=Crew.of(model))
    context = RunContext(model, checked.splits, runner, Encoder(model, parameters["chat"]), process)
    methods = checked.request.methods
    _check_examples(context, methods)
    return Prepared(context, checked.request.suite, methods, parameters["methods"] is not None, checked.settings, asked)


def check_folder(out: Path) -> None:
    """Refuse to write into something that is not ours."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"`out` {out} is a file; give a folder.")
    try:
        has_record = (out / "run.json").exists()
        if out.is_dir() and not has_record and _names(out) - LEFT_BEHIND:
            raise UsageError(f"The folder {out} is not empty and not an atlas. Give an empty or a new folder as `out`.")
        work = out / "work"  # it is removed at the end
        if work.exists() and {name for name in _names(work) if not name.startswith(".")} - OURS:
            raise UsageError(f"The folder {work} was not made by headatlas. Give a new folder as `out`, or move it.")
        if has_record:
            Atlas(out)
    except OSError as error:
        raise HeadAtlasError(f"Cannot use the folder {out}: {error.strerror}. Choose another `out`.") from None


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def _check_examples(context: RunContext, methods: Sequence[Method]) -> None:
    """Everything that could be wrong with the examples shows before anything is written."""
    for task in context.tasks:
        for split in SPLITS:
            for example in context.examples(task, split):
                context.encoder.encode(example)
    for method in methods:
        method.check_examples(context)
