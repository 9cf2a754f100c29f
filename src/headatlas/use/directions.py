"""The directions in which heads are pushed: those of the evidence test `steer`, made again from model and suite."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.lock import locked
from headatlas.errors import HeadAtlasError
from headatlas.evidence.steer import FEWEST, Steer, steering_sources
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.suites.suite import Suite
from headatlas.use.examples import held_out
from headatlas.wording import listed

TEST = Steer.info.name
HEADS = 16  # of a task, where no test says how many


def directions(
    atlas: Atlas, tasks: Sequence[str], model: HeadModel, suite: Suite | None, k: int | None, method: str,
    reporter: Reporter, all_of_them: bool = True,
) -> dict[str, NDArray[np.float32]]:  # fmt: skip
    """The push [layer, head, head_dim] of the first k heads of every task; as many as in the test unless given.

    A task without a direction is refused, or left out unless `all_of_them` are needed. Cells go to the atlas, like
    those of the test, so that the next time is quick.
    """
    recorded = [entry for entry in atlas.run.verifications if (entry.method, entry.test) == (method, TEST)]
    layers, heads = atlas.shape
    k = k or (int(recorded[0].settings["k"]) if recorded else min(HEADS, layers * heads - 1))
    with locked(atlas.path):
        trial = copy.copy(held_out(model, atlas.path / "cells", None, reporter, atlas, suite, method, k))
        trial.tasks = tuple(tasks)
        sources = steering_sources(trial)
    missing = [task for task in tasks if task not in sources]
    if missing and (all_of_them or not sources):
        raise HeadAtlasError(
            f"There is no direction for {listed(missing)}: of the items in the fit split the model must get at least "
            f"{FEWEST} right and {FEWEST} wrong. Map with more examples (`limit`), or choose another task."
        )
    return {task: source.push(trial.top(task)) for task, source in sources.items()}


def chosen_strength(atlas: Atlas, task: str, method: str) -> float | None:
    """The strength that the test `steer` chose for a task; None where it was not run."""
    rows = measured_accuracies(atlas, task, method)
    rows = rows[rows["compared_with"].isna()]
    return None if rows.empty else float(rows.iloc[0]["factor"])


def measured_accuracies(atlas: Atlas, task: str, method: str) -> Any:
    """The rows of evidence about the accuracy of a task under its own push."""
    rows = atlas.evidence
    wanted = {"test": TEST, "method": method, "task": task, "eval_task": task, "control": "steer", "metric": "accuracy"}
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    return rows
