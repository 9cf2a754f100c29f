"""Look into an atlas from Python: its strongest heads, how far its methods agree, its figure and its page.

Run it on an atlas that you have (python examples/explore_an_atlas.py atlas), or in a notebook cell by cell.
"""

from __future__ import annotations

import sys
from pathlib import Path

from headatlas import Atlas
from headatlas.patterns.agreement import agreement
from headatlas.views.page import write_page
from headatlas.wording import count, head_name, interval, p_value, significant


def explore(folder: str | Path) -> Path:
    """Print what an atlas holds, and write its page; returns the path of the page."""
    atlas = Atlas(folder)  # in a notebook, `atlas` on a line by itself shows the figure
    layers, heads = atlas.shape
    print(f"{atlas.run.model.name}: {layers} layers of {heads} heads, {count(len(atlas.tasks), 'task')}")

    # Tables are pandas frames: one row per head, in the order that the method declares.
    method = atlas.info(atlas.choose_method())
    print(f"Strongest heads by {method.name} ({method.ranking}):")
    for task in atlas.tasks_of(method.name):
        for row in atlas.table(task).head(3).itertuples():
            name, bounds = head_name(row.layer, row.head), interval(row.low, row.high, 4)
            print(f"  {task}: {name} {significant(row.value)} ({bounds}), q {p_value(row.q_value)}")

    # Heads that differ from zero in two tasks or more.
    scores = atlas.scores[(atlas.scores["method"] == method.name) & (atlas.scores["measure"] == method.primary)]
    tasks_per_head = scores[scores["q_value"] < 0.05].groupby(["layer", "head"])["task"].nunique()
    print(f"{count(int((tasks_per_head > 1).sum()), 'head')} differ from zero in two tasks or more")

    for row in agreement(atlas).itertuples():
        names = f"{row.first} and {row.second}"
        print(f"  {row.task}: {names} share {row.shared} of {row.k} ({row.expected:.1f} by chance)")

    atlas.plot("importance", path=atlas.path / "figures" / "importance.svg")
    return write_page([atlas])


if __name__ == "__main__":
    print(explore(sys.argv[1] if len(sys.argv) > 1 else "atlas"))
