"""Before and after: edit a model, map the edited checkpoint, and see which heads changed their function.

    python examples/compare_checkpoints.py atlas Turn after

A fine-tuned or pruned checkpoint is compared in the same way: map it with the same suite, and compare.
"""

from __future__ import annotations

import sys
from pathlib import Path

import headatlas as ha
from headatlas.views.terminal import comparison_table, plain_console
from headatlas.workflows.compare import write_comparison


def compare_checkpoints(folder: str | Path, masked: str, out: str | Path, limit: int | None = None) -> ha.Comparison:
    """Mask the first head of a task, map again, compare; writes the checkpoint, its atlas and the figure to `out`."""
    before, out = ha.Atlas(folder), Path(out)
    asked = before.run.asked
    edited = ha.edit(out / "checkpoint", atlas=before, mask=f"top:1:{masked}", cost=False)
    after = ha.map(
        edited.path, asked.suite, [before.choose_method()], level=asked.level, tasks=before.tasks, out=out / "atlas",
        limit=limit, report=False,
    )  # fmt: skip
    comparison = ha.compare(before, after)
    plain_console().print(comparison_table(comparison))
    print(write_comparison(comparison, out / "comparison")[1])
    return comparison


if __name__ == "__main__":
    compare_checkpoints(*sys.argv[1:4])
