"""Maps as plain tables: heads.csv with one row per map and head, or heads.json with the meaning of every number."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from headatlas.use.formats.request import Request
from headatlas.wording import head_name


def write_csv(request: Request, folder: Path) -> None:
    _rows(request).to_csv(folder / "heads.csv", index=False)


def write_json(request: Request, folder: Path) -> None:
    """Missing numbers are null; `methods` says what each method and measure means."""
    run, rows = request.atlas.run, _rows(request)
    methods = [run.method(name) for name in rows["method"].unique()]
    record = {
        "model": run.model.model_dump(),
        "suite": {"name": run.suite.name, "fingerprint": run.suite.fingerprint},
        "methods": [json.loads(info.model_dump_json()) for info in methods],
        "heads": rows.astype(object).where(rows.notna(), None).to_dict("records"),
    }
    (folder / "heads.json").write_text(json.dumps(record, indent=1, allow_nan=False) + "\n")


def _rows(request: Request) -> pd.DataFrame:
    """All maps of all methods, or of one task; `name` is how heads are called elsewhere."""
    rows = request.atlas.scores
    if request.task:
        rows = rows[rows["task"] == request.one_task]
    rows = rows.reset_index(drop=True)
    names = [head_name(layer, head) for layer, head in zip(rows["layer"], rows["head"], strict=True)]
    rows.insert(int(rows.columns.get_loc("layer")), "name", names)
    return rows
