"""The pattern of DuoAttention: which key-value heads need the whole cache.

`full_attention_heads.tsv` holds one line per layer and one number from 0 to 1 per key-value head, `config.json` the
sizes of the streaming cache. DuoAttention learns these numbers; here a key-value head gets the largest effect of its
query heads, as a share of the largest of all. Only their order is meant: its `sparsify_attention_heads` cuts by it.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from headatlas.errors import HeadAtlasError
from headatlas.use.formats.request import Request
from headatlas.wording import head_name


def write(request: Request, folder: Path) -> None:
    atlas, task = request.atlas, request.one_task
    grid, kv_heads = atlas.grid(task, request.method, request.measure), atlas.run.model.kv_heads
    if missing := [head_name(*head) for head in np.argwhere(np.isnan(grid))]:
        raise HeadAtlasError(
            f"A pattern of DuoAttention has a number for every head, but the map of {task} by {request.method} has "
            f"none for {missing[0]}. Choose another method with `method`."
        )
    if min(atlas.shape[0], kv_heads) < 2:
        raise HeadAtlasError(
            f"A pattern of DuoAttention has at least 2 layers and 2 key-value heads; {atlas.run.model.name} has "
            f"{atlas.shape[0]} and {kv_heads}, and its loader would read a row where there is a table."
        )
    by_group = np.clip(grid, 0, None).reshape(atlas.shape[0], kv_heads, -1).max(-1)
    if by_group.max() == 0:
        raise HeadAtlasError(f"No head has a positive value in the map of {task} by {request.method}.")
    np.savetxt(folder / "full_attention_heads.tsv", by_group / by_group.max(), delimiter="\t")
    config = {
        "model_name": atlas.run.model.name,
        "sink_size": request.sinks,
        "recent_size": request.recent,
        "task": task,
        "method": request.method,
        "measure": request.measure,
        "made_by": "headatlas",
    }
    (folder / "config.json").write_text(json.dumps(config) + "\n")
