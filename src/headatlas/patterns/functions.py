"""What each head is for: the functions it serves more than the others do, corrected over all functions and heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from headatlas.stats import LEVEL, q_values

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.atlas.records import Head

SPECIFIC, SHARE = "specific", "share"  # measures that a method must have
COLUMNS = ["layer", "head", "task", "specific", "share", "share_low", "share_high", "q_value"]


def specific_method(atlas: Atlas, method: str | None = None) -> str | None:
    """The method asked for if it says how specific heads are, or the first that does; None if there is none."""
    able = [
        name for name in atlas.methods if {SPECIFIC, SHARE} <= {measure.name for measure in atlas.info(name).measures}
    ]
    if method is not None:
        return method if method in able else None
    return able[0] if able else None


def head_functions(atlas: Atlas, method: str | None = None) -> pd.DataFrame:
    """One row per head and function that the head is specifically for: needed by the task, and more than by the others.

    Both must hold, so the p-value of a head is the larger of those of `share` and `specific`; q below 0.05 is Benjamini
    and Hochberg's over all tasks and heads together. `share` is the head's part of the task's positive
    effects, with its 95 % interval. The largest share comes first. Empty where no method says how specific heads are.
    """
    name = specific_method(atlas, method)
    if name is None:
        return pd.DataFrame(columns=COLUMNS)
    scores = atlas.scores[atlas.scores["method"] == name]
    keys = ["layer", "head", "task"]
    columns = [*keys, "value", "low", "high", "p_value"]
    by_measure = {name: scores.loc[scores["measure"] == name, columns] for name in (SPECIFIC, SHARE)}
    rows = by_measure[SPECIFIC].merge(by_measure[SHARE], on=keys, suffixes=("", "_share"))
    names = {"value": "specific", "value_share": "share", "low_share": "share_low", "high_share": "share_high"}
    rows = rows.rename(columns=names)
    rows["q_value"] = q_values(rows[["p_value", "p_value_share"]].max(axis=1).to_numpy(dtype=float))
    shown = rows[(rows["specific"] > 0) & (rows["share"] > 0) & (rows["q_value"] < LEVEL)]
    return shown.sort_values("share", ascending=False, kind="stable")[COLUMNS].reset_index(drop=True)


def unmeasured_heads(atlas: Atlas, method: str) -> list[Head]:
    """The heads whose shares the method did not measure, of which nothing can be said."""
    scores = atlas.scores[(atlas.scores["method"] == method) & (atlas.scores["measure"] == SHARE)]
    measured = set(zip(scores["layer"], scores["head"], strict=True))
    return [head for head in np.ndindex(*atlas.shape) if head not in measured]


def function_counts(functions: pd.DataFrame, tasks: list[str]) -> dict[str, int]:
    """How many heads each task has, in the order of the tasks."""
    counts = functions["task"].value_counts()
    return {task: int(counts.get(task, 0)) for task in tasks}


def strength(share: np.ndarray, most: float) -> np.ndarray:
    """From 0 to 1: the square root of a share over the largest one, so that small shares can be told apart."""
    return np.sqrt(np.clip(share, 0, most) / most) if most > 0 else np.zeros_like(share)
