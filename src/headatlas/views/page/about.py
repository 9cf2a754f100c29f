"""What the page says about the run: its headline, its tasks, its methods, its suite, and how to repeat it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from headatlas.atlas.records import COMPETENT
from headatlas.views.known_heads import known_heads_line
from headatlas.views.page.encoding import packed_halves, plain
from headatlas.views.pending import pending_words
from headatlas.views.quantities import measure_of, quantity_words, task_notes
from headatlas.views.scale import tick_step
from headatlas.wording import count, decimal, elapsed, listed, percent, significant

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.atlas.declarations import MethodInfo
    from headatlas.atlas.run_record import AuditRecord, Quantity

# The two measures of a method of roles that are shown in one picture where it has both.
ROLE_PAIR = ("facilitation", "interference")
VERDICTS = ("bad", "warning", "good")  # the worst first


def describe_model(atlas: Atlas) -> dict[str, Any]:
    model = atlas.run.model
    per_group = max(1, model.heads // (model.kv_heads or model.heads))
    return {
        "name": model.name,
        "fingerprint": model.fingerprint,
        "layers": model.layers,
        "heads": model.heads,
        "kv_group": [head // per_group for head in range(model.heads)],
        "tick_step": {"layers": tick_step(model.layers), "heads": tick_step(model.heads)},
    }


def describe_tasks(atlas: Atlas) -> list[dict[str, Any]]:
    """Every task of the suite, mapped or not."""
    mapped = set(atlas.tasks)
    names = dict.fromkeys([*atlas.run.suite.tasks, *atlas.verdicts, *atlas.tasks])
    return [{"name": name, "mapped": name in mapped, "verdict": atlas.verdicts.get(name)} for name in names]


def describe_method(atlas: Atlas, info: MethodInfo) -> dict[str, Any]:
    measured = set(atlas.measures_of(info.name))
    names = [measure.name for measure in info.measures if measure.name in measured]
    names += sorted(measured - set(names))
    notes = task_notes(atlas, info.name)
    return {
        **{name: getattr(info, name) for name in ("name", "title", "meaning", "kind", "primary", "ranking")},
        "roles": ROLE_PAIR if info.kind == "role" and set(ROLE_PAIR) <= measured else None,
        "measures": [
            {
                **info.measure(name).model_dump(),
                "label": measure_of(atlas, info.name, name).label,
                "labels": {task: measure_of(atlas, info.name, name, task).label for task in notes},
            }
            for name in names
        ],
        "notes": notes,
        "known_heads": known_heads_line(info.name),
        "doubts": {task: why for task in atlas.tasks_of(info.name) if (why := atlas.why_not_read(task, info.name))},
    }


def describe_descriptions(atlas: Atlas) -> list[dict[str, Any]]:
    """Methods that describe heads without mapping tasks: one number per head and measure, with words for each."""
    size, heads = atlas.shape[0] * atlas.shape[1], atlas.shape[1]
    described = []
    for info in atlas.run.methods:
        rows = atlas.diagnostics[(atlas.diagnostics["method"] == info.name) & atlas.diagnostics["head"].notna()]
        if info.kind != "description" or rows.empty:
            continue
        # Words that all meanings begin with, such as "the head looks at", are written once, before the list.
        common = _common_words([measure.meaning for measure in info.measures])
        measures = []
        for measure in info.measures:
            of_measure = rows[rows["metric"] == measure.name]
            values = np.full(size, np.nan)
            values[(of_measure["layer"] * heads + of_measure["head"]).to_numpy(dtype=int)] = of_measure["value"]
            words = measure.meaning.removeprefix(common).strip() or measure.name
            measures.append({"words": words, "share": measure.zero_to_one, "values": packed_halves(values)})
        described.append({"title": info.title, "meaning": info.meaning, "common": common, "measures": measures})
    return described


def _common_words(sentences: Sequence[str]) -> str:
    """The words with which all sentences begin."""
    common = itertools.takewhile(lambda words: len(set(words)) == 1, zip(*map(str.split, sentences), strict=False))
    return " ".join(words[0] for words in common)


def describe_headline(atlas: Atlas, tests: Sequence[str]) -> dict[str, str]:
    run = atlas.run
    tested = f"tested by {listed(tests)}" if tests else "not yet tested by intervention"
    when = (run.finished or run.started)[:10]
    small = [f"{run.settings.preset} preset", when, elapsed(run.seconds)]
    tasks = count(len(describe_tasks(atlas)), "task")
    mapped = f"{len(atlas.tasks)} of {tasks} of the suite {run.suite.name} mapped by {listed(atlas.methods)}; {tested}."
    return {
        "sentence": mapped if atlas.methods else f"{tasks} of the suite {run.suite.name}; no maps yet.",
        "pending": pending_words(run),
        "small": " · ".join(text for text in small if text),
    }


def describe_competence(atlas: Atlas) -> list[dict[str, Any]]:
    return [
        {
            "task": row.task,
            "accuracy": plain(row.accuracy),
            "low": plain(row.low),
            "high": plain(row.high),
            "chance": plain(row.chance),
            "texts": [
                percent(row.accuracy), percent(row.chance), decimal(row.logprob), decimal(row.margin),
                f"{row.mapped} of {row.items}",
            ],
            "verdict": row.verdict,
            "competent": row.verdict == COMPETENT,
        }
        for row in atlas.competence.itertuples()
    ]  # fmt: skip


def describe_audit(atlas: Atlas) -> list[dict[str, str]]:
    """What the texts of the suite give away, the worst first."""
    checks = sorted(atlas.run.audit, key=lambda check: VERDICTS.index(check.verdict))
    notes = [check.note for check in checks]
    return [{"verdict": check.verdict, "text": _audit_text(check, notes.count(check.note) > 1)} for check in checks]


def _audit_text(check: AuditRecord, same_note: bool) -> str:
    if not check.note:
        task = f", {check.task}" if check.task and check.task != "all" else ""
        return f"{check.name}{task}: {significant(check.value)}"
    return f"{check.name}: {check.note}" if same_note else check.note


def describe_run(atlas: Atlas) -> list[tuple[str, str]]:
    """What is needed to repeat the run, as pairs of texts."""
    run, model, suite = atlas.run, atlas.run.model, atlas.run.suite
    methods = [f"{name} ({_text(settings)})" if settings else name for name, settings in run.settings.methods.items()]
    measured = [f"{name}: {_measured(by_task)}" for name, by_task in run.quantities.items()]
    settings = run.settings.model_dump(exclude={"methods"})
    facts = [
        ("command", run.asked.command or ""),
        ("folder", atlas.path.resolve().name),
        (
            "model",
            f"{model.name}: {model.type}, {model.layers} layers, {model.heads} heads, {model.kv_heads} kv heads, "
            f"head_dim {model.head_dim}, {model.dtype} on {model.device}",
        ),
        ("model fingerprint", model.fingerprint),
        ("suite", f"{suite.name} ({suite.fingerprint}), examples: {_text(suite.examples)}"),
        ("methods", "; ".join(methods)),
        ("measured", "; ".join(measured)),
        ("settings", _text(settings)),
        ("versions", _text(run.versions)),
        ("time", ", ".join(text for text in (run.started, elapsed(run.seconds)) if text)),
        ("cells", _text(run.cells.model_dump()) if run.cells else ""),
    ]
    return [(name, text) for name, text in facts if text]


def _measured(by_task: Mapping[str, Quantity]) -> str:
    """The metric and the baseline of a method; with the names of tasks where they differ."""
    tasks: dict[str, list[str]] = {}
    for task, quantity in by_task.items():
        tasks.setdefault(quantity_words(quantity), []).append(task)
    return " and ".join(f"{words} ({listed(named)})" if len(tasks) > 1 else words for words, named in tasks.items())


def _text(settings: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} {json.dumps(value) if isinstance(value, dict | list | bool) or value is None else value}"
        for name, value in settings.items()
    )
