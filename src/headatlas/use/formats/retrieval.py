"""The scores of Retrieval-Head: one line of JSON, {"layer-head": [scores]}, one score per seed.

Its readers take the mean of the scores and the largest first.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from headatlas.errors import HeadAtlasError
from headatlas.use.formats.request import Request


def write(request: Request, folder: Path) -> None:
    atlas, task = request.atlas, request.one_task
    ranked = atlas.ranking(task, request.method, request.measure)
    rows = atlas.scores
    for column, value in (("task", task), ("method", request.method), ("measure", request.measure)):
        rows = rows[rows[column] == value]
    by_head = {head: part["value"].tolist() for head, part in rows.groupby(["layer", "head"])}
    means = [sum(by_head[head]) / len(by_head[head]) for head in ranked]
    if any(first < second for first, second in pairwise(means)):
        raise HeadAtlasError(
            f"Retrieval-Head ranks heads by the largest score, but {request.method} ranks {request.measure} otherwise "
            f"({atlas.info(request.method).ranking}). Choose another `method` or `measure`."
        )
    scores = {f"{layer}-{head}": by_head[layer, head] for layer, head in ranked}
    name = atlas.run.model.name.rstrip("/").split("/")[-1]
    (folder / f"{name}.json").write_text(json.dumps(scores) + "\n")
