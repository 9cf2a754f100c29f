"""A folder ready for the Hugging Face Hub: the tables of an atlas, its figures and pages, and a dataset card.

Nothing is uploaded. Paths of this machine are left out of run.json, and the report is written again from it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.run_record import RunRecord, write_run
from headatlas.use.formats.request import Request
from headatlas.views.page import write_page
from headatlas.views.report.report import write_report
from headatlas.wording import count, decimal, interval

TABLES = {
    "scores": "one row per method, measure, task and head: value, standard error, p, q and 95 % interval",
    "competence": "what the intact model can do: one row per task",
    "diagnostics": "what methods report beside their maps",
    "noise": "how sets of examples move the maps, all heads together",
    "evidence": "what interventions on the heads of a map did to held-out examples",
}


def write(request: Request, folder: Path) -> None:
    atlas = request.atlas
    tables = {name: text for name, text in TABLES.items() if (atlas.path / f"{name}.parquet").exists()}
    for name in tables:
        shutil.copyfile(atlas.path / f"{name}.parquet", folder / f"{name}.parquet")
    write_run(folder, without_paths(atlas.run))
    if (atlas.path / "figures").is_dir():
        shutil.copytree(atlas.path / "figures", folder / "figures")
    copied = Atlas(folder)
    write_report(copied)
    write_page([copied])
    (folder / "README.md").write_text(card(copied, tables))


def without_paths(run: RunRecord) -> RunRecord:
    """The record without the command and without folders of this machine: their last part remains."""
    asked = run.asked
    model, suite = (
        Path(name).name if name and (Path(name).is_absolute() or Path(name).expanduser().exists()) else name
        for name in (asked.model, asked.suite)
    )
    return run.model_copy(update={"asked": asked.model_copy(update={"command": None, "model": model, "suite": suite})})


def card(atlas: Atlas, tables: dict[str, str]) -> str:
    """The dataset card: what the Hub reads, then what people read."""
    run = atlas.run
    configs = "".join(f"- config_name: {name}\n  data_files: {name}.parquet\n" for name in tables)
    layers, heads = atlas.shape
    methods = "\n".join(f"- **{info.name}**: {info.meaning}" for info in run.methods)
    lines = "\n".join(f"| `{name}.parquet` | {text} |" for name, text in tables.items())
    competence = "\n".join(
        f"| {row.task} | {decimal(row.accuracy)} ({interval(row.low, row.high)}) | {decimal(row.chance)} "
        f"| {row.verdict} |"
        for row in atlas.competence.itertuples()
    )
    image = "![What each head is for](figures/atlas.png)\n\n" if (atlas.path / "figures" / "atlas.png").exists() else ""
    return f"""---
pretty_name: "Attention heads of {run.model.name}, {run.suite.name}"
tags:
- interpretability
- attention-heads
- headatlas
configs:
{configs}---

# What the attention heads of {run.model.name} are for

A map of {layers} layers of {heads} heads on {count(len(atlas.tasks), "task")} of the suite `{run.suite.name}`,
made with headatlas {run.versions.get("headatlas", "")}. `report.md` tells what it shows and what it does
not; `report.html` shows it.

{image}## Methods

{methods}

## Files

| file | what is in it |
|---|---|
{lines}
| `run.json` | settings, versions, and what every method and measure means |

```python
import pandas as pd

scores = pd.read_parquet("scores.parquet")
```

`headatlas.Atlas(folder)` reads the whole folder.

## What the intact model can do

| task | accuracy (95 % interval) | guessing | verdict |
|---|---|---|---|
{competence}

A map of a task that the model cannot do means nothing. Effects are about the examples of this suite and this model
(fingerprint `{run.model.fingerprint}`).
"""
