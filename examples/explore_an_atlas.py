"""Look into an atlas from Python: its strongest heads, how far its methods agree, its figure and its page.

Run it on an atlas that you have (python examples/explore_an_atlas.py atlas), or in a notebook cell by cell.
"""

from __future__ import annotations

import sys
from pathlib import Path

from headatlas import Atlas
from headatlas.patterns.agreement import agreement
from headatlas.views.page import write_page


def explore(folder: str | Path) -> Path:
    """Print what an atlas holds, and write its page; returns the path of the page."""
    atlas = Atlas(folder)  # in a notebook, `atlas` on a line of its own shows the figure
    layers, heads = atlas.shape
    print(f"{atlas.run['model']['name']}: {layers} layers of {heads} heads, {len(atlas.tasks)} tasks")

    # Tables are pandas frames: one row a head, strongest first.
    for task in atlas.tasks:
        for row in atlas.table(task).head(3).itertuples():
            interval = f"{row.low:.4f} to {row.high:.4f}"
            print(f"  {task}: L{row.layer}H{row.head} {row.value:.4f} ({interval}), q {row.q_value:.3f}")

    # Heads that differ from zero in two tasks or more.
    scores = atlas.scores.query("measure == 'importance' and q_value < 0.05")
    shared = scores.groupby(["layer", "head"])["task"].nunique().loc[lambda count: count > 1]
    print(f"{len(shared)} heads differ from zero in two tasks or more")

    for row in agreement(atlas).itertuples():
        names = f"{row.first} and {row.second}"
        print(f"  {row.task}: {names} share {row.shared} of {row.k} ({row.expected:.1f} by chance)")

    atlas.plot("importance", path=atlas.path / "figures" / "importance.svg")
    return write_page([atlas])


if __name__ == "__main__":
    print(explore(sys.argv[1] if len(sys.argv) > 1 else "atlas"))
