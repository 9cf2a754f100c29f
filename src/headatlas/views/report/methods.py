"""What the methods report beside their maps: notes in words, then every single number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from headatlas.views.notes import method_notes
from headatlas.views.report.markdown import bullets, plain, table
from headatlas.wording import interval, significant

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

SERIES = ["layer", "head", "step", "rank", "other_seed"]  # numbers with one of these belong to figures


def notes_lines(atlas: Atlas) -> list[str]:
    lines = []
    for note in method_notes(atlas):
        lines.append(f"### {plain(note.title)}")
        if note.rows:
            lines.append(table([plain(name) for name in note.columns], [list(map(plain, row)) for row in note.rows]))
        lines.append(bullets(map(plain, note.sentences)))
    return lines


def diagnostics_lines(atlas: Atlas) -> list[str]:
    """Numbers about a task or about all of them; the mean over seeds where there are several."""
    entries = atlas.diagnostics[atlas.diagnostics[SERIES].isna().all(axis=1)]
    rows = []
    for (method, metric, task), group in entries.groupby(["method", "metric", "task"], sort=False, dropna=False):
        first = group.iloc[0] if len(group) == 1 else dict.fromkeys(("low", "high", "null_low", "null_high"), np.nan)
        rows.append((plain(method), plain(metric), "all tasks" if pd.isna(task) else plain(task),
                     significant(group["value"].mean(), 4), interval(first["low"], first["high"], 3),
                     interval(first["null_low"], first["null_high"], 3), len(group)))  # fmt: skip
    if not rows:
        return []
    headings = ("method", "number", "task", "value", "95 % interval", "95 % of the null", "seeds")
    return [
        "### What the methods report beside their maps",
        "Counts, shares from 0 to 1, correlations, and likelihoods in nats per token, each by its name.",
        table(headings, rows),
    ]
