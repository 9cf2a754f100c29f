"""Writing a comparison: compare.json, the figure, and the page."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from headatlas.errors import UsageError
from headatlas.files import write_bytes
from headatlas.patterns.compare import ComparedTask, Comparison, Side
from headatlas.views.figures import write_comparison_figure
from headatlas.views.page import write_page

SCHEMA = 1  # raise it when a field of compare.json changes its meaning
JSON, PAGE, FIGURES = "compare.json", "compare.html", ("compare.png", "compare.svg")


def write_comparison(comparison: Comparison, out: str | Path) -> list[Path]:
    """Write the comparison into a folder; returns the paths."""
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"`out` {folder} is a file; give a folder.")
    write_bytes(folder / JSON, (json.dumps(as_record(comparison), indent=2, allow_nan=False) + "\n").encode())
    figures = [folder / name for name in FIGURES]
    write_comparison_figure(comparison, figures)
    first, second = comparison.first.atlas, comparison.second.atlas
    atlases = [first] if first.path.resolve() == second.path.resolve() else [first, second]
    page = write_page(atlases, folder / PAGE, comparison=comparison)
    return [folder / JSON, *figures, page]


def as_record(comparison: Comparison) -> dict[str, Any]:
    """The comparison as JSON-ready data; what is not known is null."""
    record = {
        "schema_version": SCHEMA,
        "by": comparison.by,
        "sides": [
            {"label": label, **_side(side)}
            for side, label in zip((comparison.first, comparison.second), comparison.labels, strict=True)
        ],
        "tasks": [_task(task) for task in comparison.tasks],
        "remarks": list(comparison.remarks),
    }
    return _known(record)


def _side(side: Side) -> dict[str, Any]:
    run = side.atlas.run
    return {
        "atlas": str(side.atlas.path),
        "model": run.model.name,
        "model_fingerprint": run.model.fingerprint,
        "suite": run.suite.name,
        "suite_fingerprint": run.suite.fingerprint,
        "method": side.method,
        "measure": side.measure,
        "seed": side.seed,
        "settings": run.settings.methods.get(side.method, {}),
    }


def _task(task: ComparedTask) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "task": task.task,
        "units": task.units,
        "correlation": asdict(task.correlation),
        "same_examples": task.same_examples,
    }
    if task.heads is None:
        assert task.profiles is not None
        assert task.centres is not None
        names = ("first", "second", "difference")
        centres = {name: asdict(centre) for name, centre in zip(names, task.centres, strict=True)}
        return fields | {"profiles": task.profiles.tolist(), "centres": centres}
    return fields | {
        "k": task.k,
        "shared": [list(head) for head in task.shared],
        "by_chance": task.by_chance,
        "p_value": task.p_value,
        "tested": task.tested,
        "differing": [[int(row.layer), int(row.head)] for row in task.differing.itertuples()],
        "heads": task.heads.to_dict("records"),
    }


def _known(value: Any) -> Any:
    """The same with null for numbers that are not finite."""
    if isinstance(value, dict):
        return {name: _known(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_known(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
