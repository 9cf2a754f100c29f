"""`headatlas.map`: check everything, then run the methods and write the atlas."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from headatlas.atlas import reading as atlas_files
from headatlas.atlas.lock import locked
from headatlas.atlas.reading import Atlas
from headatlas.errors import HeadAtlasError, UsageError, unknown
from headatlas.files import remove
from headatlas.methods import METHODS, method_class
from headatlas.methods.attention import attention
from headatlas.model.heads import HeadModel
from headatlas.model.loading import load
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.competence import competence
from headatlas.run.context import Method, Work
from headatlas.run.scoring import Encoder
from headatlas.run.selection import MINIMUM, select, split_examples
from headatlas.suites import load_suite
from headatlas.suites.audit.audit import audit
from headatlas.suites.suite import SHARES, SPLITS, Suite


@dataclass(frozen=True)
class Preset:
    """How much is measured: examples of a task in each split (all when None), share of heads ablated, seeds, to how
    many tasks gates are fitted (all when None), and their settings.

    Attribution (on `fit`) costs two forwards an example, ablation (on `choose`) about half a forward for every head,
    gates about a hundred forwards of a batch for every seed.
    """

    limits: Mapping[str, int] | None
    share: float
    seeds: int
    gate_tasks: int | None
    gate: Mapping[str, int | str]


# Gates in about a minute a fit, a little less well fitted.
SHORT: Mapping[str, int | str] = {
    "seeds": 3, "steps": 13, "batch": 12, "check": 5, "schedule": "cooldown", "cooldown": 5,
}  # fmt: skip
ROLE_TASKS = ("Math Calculation", "Syntactic Understanding")  # of the roles figure
PRESETS = {
    "quick": Preset({"fit": 48, "choose": 16, "evaluate": 32}, share=0.1, seeds=1, gate_tasks=2, gate=SHORT),
    "standard": Preset(
        {"fit": 80, "choose": 40, "evaluate": 80}, share=1.0, seeds=1, gate_tasks=None, gate={"seeds": 5}
    ),
    "paper": Preset(None, share=1.0, seeds=5, gate_tasks=None, gate={"seeds": 10}),
}


@dataclass(frozen=True)
class Request:
    """Everything a run depends on besides the model and the suite."""

    methods: tuple[Method, ...]
    named: bool  # the methods were asked for by the user
    preset: str
    limits: Mapping[str, int] | None
    chat: bool
    at_chance: bool
    known_only: bool
    split_seed: int = 0

    def settings(self) -> dict[str, Any]:
        methods = {method.name: asdict(method) for method in self.methods}  # type: ignore[call-overload]
        return {
            "preset": self.preset,
            "limits": self.limits,
            "chat": self.chat,
            "at_chance": self.at_chance,
            "known_only": self.known_only,
            "methods": methods,
        }


def map_heads(
    model: HeadModel | str | Path = "smollm2",
    suite: Suite | str | Path = "cognitive",
    methods: Sequence[str | Method] | None = None,
    *,
    tasks: Sequence[str] | None = None,
    preset: str = "quick",
    out: str | Path = "atlas",
    limit: int | None = None,
    seeds: int | None = None,
    baseline: str | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    level: int | None = None,
    chat: bool = False,
    at_chance: bool = False,
    known_only: bool = False,
    load_options: Mapping[str, Any] | None = None,
    command: str | None = None,
    reporter: Reporter | None = None,
) -> Atlas:
    """Map what every head of `model` does for every task of `suite`, and write the atlas to `out`.

    An atlas that is already there is continued: finished cells are reused where their inputs are the same. Nothing is
    written before everything that was asked for has been checked. A task on which the intact model is at chance is
    mapped only if it is named in `tasks` or with `at_chance`; `known_only` maps from the items the model gets right.
    `options` are settings of methods by their names, such as {"probe": {"kind": "paper"}}.
    """
    reporter = reporter or Reporter()
    _check_numbers(preset, limit, seeds)
    chosen = suite if isinstance(suite, Suite) else load_suite(suite, level)
    chosen = chosen.only(tasks) if tasks else chosen
    made = _methods(methods, PRESETS[preset], chosen.tasks, seeds, baseline, options or {})
    limits = _shared_out(limit) if limit else PRESETS[preset].limits
    request = Request(made, methods is not None, preset, limits, chat, at_chance or bool(tasks), known_only)
    _usable(request, chosen.tasks)
    splits = split_examples(chosen, request.limits, request.split_seed)
    out = _checked_folder(Path(out))
    asked = {
        "model": None if isinstance(model, HeadModel) else str(model),
        "load": {key: str(value).removeprefix("torch.") for key, value in (load_options or {}).items() if value},
        "suite": None if isinstance(suite, Suite) else str(suite),
        "level": level,
        "tasks": list(tasks) if tasks else None,
        "command": command,
    }
    if not isinstance(model, HeadModel):
        model = load(model, reporter=reporter, **(load_options or {}))
    work = Work(model, splits, Runner(out / "cells", reporter), Encoder(model, chat))
    _check_all(work)
    with locked(out):
        return _run(work, request, chosen, out, asked, reporter)


def _methods(
    methods: Sequence[str | Method] | None,
    preset: Preset,
    tasks: Sequence[str],
    seeds: int | None,
    baseline: str | None,
    options: Mapping[str, Mapping[str, Any]],
) -> tuple[Method, ...]:
    """The methods asked for, or all of them, with the preset's settings and then the user's."""
    general = {"share": preset.share, "seeds": seeds or preset.seeds, "baseline": baseline}
    gates = {**preset.gate, **({"seeds": seeds} if seeds else {}), "tasks": _gate_tasks(preset, tasks)}
    special: dict[str, dict[str, Any]] = {"gate": gates}
    made: list[Method] = []
    for method in methods if methods is not None else METHODS:
        if isinstance(method, str):
            cls = method_class(method)
            known = {field.name for field in fields(cls)}
            own = options.get(method, {})
            if foreign := set(own) - known:
                raise unknown(f"setting of {method}", min(foreign), known)
            used = {key: value for key, value in general.items() if key in known and value is not None}
            method = cls(**{**used, **special.get(method, {}), **own})
        made.append(method)
    names = [method.name for method in made]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise UsageError(f"The method {min(repeated)!r} was asked for twice. Make an atlas for each of its settings.")
    if not made:
        raise UsageError(f"No method was asked for. Known: {', '.join(METHODS)}.")
    if idle := set(options) - set(names):
        raise UsageError(f"Settings of the method {min(idle)!r} were given, but it is not among: {', '.join(names)}.")
    return tuple(made)


def _check_numbers(preset: str, limit: int | None, seeds: int | None) -> None:
    if preset not in PRESETS:
        raise unknown("preset", preset, PRESETS)
    for name, value, least in (("limit", limit, MINIMUM), ("seeds", seeds, 1)):
        if value is not None and value < least:
            raise UsageError(f"--{name} {value} was asked for; it must be at least {least}.")


def _gate_tasks(preset: Preset, tasks: Sequence[str]) -> tuple[str, ...]:
    """The tasks that gates are fitted to: those of the literature's figure first; none named means all."""
    if preset.gate_tasks is None or len(tasks) <= preset.gate_tasks:
        return ()
    return tuple(sorted(tasks, key=lambda task: task not in ROLE_TASKS)[: preset.gate_tasks])


def _usable(request: Request, tasks: Sequence[str]) -> tuple[Method, ...]:
    """The methods that can map so few tasks; one that was named and cannot is an error."""
    usable = tuple(method for method in request.methods if len(tasks) >= method.least_tasks)
    for method in request.methods:
        if method not in usable and (request.named or not usable):
            raise HeadAtlasError(
                f"The method {method.name!r} tells tasks apart, and only {tasks[0]!r} is to be mapped. Add another "
                "task, or leave the method out."
            )
    return usable


def _shared_out(limit: int) -> dict[str, int]:
    """A limit for a task, as limits for its splits; what rounding leaves goes to `fit`."""
    limits = {split: round(limit * share) for split, share in SHARES.items() if split != "fit"}
    return {"fit": limit - sum(limits.values()), **limits}


def _checked_folder(out: Path) -> Path:
    """Refuse to write into something that is not ours."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out} is a file; give a folder.")
    try:
        ours = {".lock", ".run.json.tmp"}  # left by a run that was killed before its first file
        if out.is_dir() and {path.name for path in out.iterdir()} - ours and not (out / "run.json").exists():
            raise UsageError(f"The folder {out} is not empty and not an atlas. Give an empty or a new folder as --out.")
        if (out / "run.json").exists():
            Atlas(out)
    except OSError as error:
        raise HeadAtlasError(f"Cannot use the folder {out}: {error.strerror}. Choose another with --out.") from None
    return out


def _check_all(work: Work) -> None:
    """Everything that could be wrong with the examples, before anything is written. `Work` has read the weights."""
    for task in work.tasks:
        for split in SPLITS:
            for example in work.examples(task, split):
                work.encoder.encode(example)


def _run(work: Work, request: Request, suite: Suite, out: Path, asked: Mapping[str, Any], reporter: Reporter) -> Atlas:
    from headatlas.workflows.publish import FILES, publish

    started = time.time()
    description: dict[str, Any] = {
        "asked": asked,
        "model": {"fingerprint": work.fingerprint, **_describe(work.model)},
        "suite": {
            "name": suite.name,
            "fingerprint": suite.fingerprint,
            "tasks": list(suite.tasks),
            "examples": {split: len(work.splits[split].examples) for split in SPLITS},
        },
        "audit": _audit(suite, out, reporter),
        "settings": request.settings(),
        "seeds": {"split": request.split_seed},
        "versions": {name: version(name) for name in ("headatlas", "torch", "transformers", "numpy", "scipy")}
        | {"python": platform.python_version()},
        "started": datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
        "finished": None,
    }
    atlas_files.write_run(out, description)
    # What an earlier run with other settings may have left: an unfinished atlas must not show it as its own.
    earlier = _bytes(out / "scores.parquet")
    for name in ("scores.parquet", "competence.parquet", "diagnostics.parquet", *FILES):
        remove(out / name)
    found, known = competence(work)
    found, work = select(work, found, known, request.at_chance, request.known_only)
    methods = _usable(request, work.tasks)
    for left_out in set(request.methods) - set(methods):
        reporter.say(f"{left_out.name} is left out: it tells tasks apart, and there is only {work.tasks[0]}.")
    measured = [method.measure(work) for method in methods]
    maps = [map_ for own in measured for map_ in own.maps]
    diagnostics = [entry for own in measured for entry in own.diagnostics] + attention(work)
    runner = work.runner
    description |= {
        "cells": {"computed": len(runner.computed), "reused": len(runner.reused)},
        # Groups behind every standard error: intervals are Student's t with one degree of freedom less.
        "groups": {
            method.name: {map_.task: map_.summary.groups for map_ in maps if map_.method == method.name}
            for method in methods
        },
    }
    atlas_files.write_run(out, description)
    atlas_files.write_competence(out, found)
    atlas_files.write_diagnostics(out, work.model.name, diagnostics)
    atlas_files.write_scores(out, work.model.name, maps)
    if earlier != _bytes(out / "scores.parquet"):
        remove(out / "evidence.parquet")  # it is about other maps
    finished = {
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(time.time() - started, 1),
    }
    atlas_files.write_run(out, description | finished)
    reporter.say(f"{len(runner.computed)} cells computed, {len(runner.reused)} reused from an earlier run in {out}.")
    atlas = Atlas(out)
    publish(atlas, reporter)
    return atlas


def _audit(suite: Suite, out: Path, reporter: Reporter) -> list[dict[str, Any]]:
    """What the texts of the suite give away; taken over from an earlier run on the same suite by the same version."""
    earlier = Atlas(out).run if (out / "run.json").exists() else {}
    same = "audit" in earlier and earlier["suite"]["fingerprint"] == suite.fingerprint
    if same and earlier["versions"]["headatlas"] == version("headatlas"):
        return earlier["audit"]
    with reporter.spinner("Auditing the suite"):
        return [check.row() for check in audit(suite)]


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _describe(model: HeadModel) -> dict[str, Any]:
    return {
        "name": model.name,
        "type": model.model_type,
        "layers": model.n_layers,
        "heads": model.n_heads,
        "kv_heads": model.n_kv_heads,
        "head_dim": model.head_dim,
        "dtype": str(model.dtype).removeprefix("torch."),
        "device": model.device.type,
    }
