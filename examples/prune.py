"""Cut the heads that matter least out of a model, and see what it costs.

    python examples/prune.py atlas smaller

Every layer loses the group of heads sharing keys and values that matters least over all tasks of the atlas. What is
written is a checkpoint that plain transformers loads.
"""

from __future__ import annotations

import sys
from pathlib import Path

import headatlas as ha
from headatlas.wording import interval, percent, signed


def prune(atlas: str | Path, out: str | Path, groups: int = 1, limit: int | None = None) -> ha.Edited:
    """Prune `groups` groups of every layer; prints what is saved and what is lost."""
    done = ha.edit(out, atlas=atlas, mask=f"weakest:{groups}", prune=True, limit=limit)
    (parameters, fewer), (cache, less) = done.parameters, done.cache
    print(f"{percent(1 - fewer / parameters)} fewer parameters, {percent(1 - less / cache)} less cache")
    for cost in done.costs:
        if cost.metric == "accuracy":
            change = f"{signed(cost.after - cost.before)} ({interval(cost.low, cost.high, sign=True)})"
            print(f"  {cost.task}: accuracy {cost.before:.2f} before, {cost.after:.2f} after, {change}")
    return done


if __name__ == "__main__":
    prune(*(sys.argv[1:] or ["atlas", "smaller"]))
