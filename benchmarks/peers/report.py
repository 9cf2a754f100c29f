"""From timings to a table: medians over repeats, and ratios within each repeat, because machines are noisy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass
class Timing:
    """One library on one set of prompts in one repeat: heads that it removed, processor and wall seconds, peak memory
    of its process so far in bytes, and the largest difference of its effects to ours in nats."""

    name: str
    repeat: int
    heads: int
    cpu: float
    wall: float
    peak: float
    difference: float = 0.0


def summarise(
    timings: Mapping[str, Sequence[Timing]], ours: str, names: Sequence[str], missing: Mapping[str, str]
) -> dict[str, Any]:
    """By set of prompts and library: seconds per head, ratio to `ours`, peak memory in MB, largest difference; with
    what could not be measured and why. The peak is that of the first repeat: later, other prompts have run before."""
    tasks = {}
    for task, some in timings.items():
        base = {timing.repeat: timing.cpu / timing.heads for timing in some if timing.name == ours}
        rows = {}
        for name in names:
            of_name = [timing for timing in some if timing.name == name]
            if of_name:
                rows[name] = {
                    "cpu": median(t.cpu / t.heads for t in of_name),
                    "wall": median(t.wall / t.heads for t in of_name),
                    "ratio": median(t.cpu / t.heads / base[t.repeat] for t in of_name),
                    "peak": of_name[0].peak / 1e6,
                    "difference": max(t.difference for t in of_name),
                }
        tasks[task] = rows
    return {"tasks": tasks, "ours": ours, "missing": dict(missing)}


def as_markdown(summary: Mapping[str, Any]) -> str:
    lines = [
        "| prompts | library | seconds per head | times that of headatlas | peak memory | largest difference |",
        "|---|---|---|---|---|---|",
    ]
    for task, rows in summary["tasks"].items():
        for number, (name, row) in enumerate(rows.items()):
            difference = "" if name == summary["ours"] else f"{row['difference']:.1g}"
            what = "" if number else task
            lines.append(
                f"| {what} | {name} | {row['cpu']:.2f} | {row['ratio']:.2f} | {row['peak']:,.0f} MB | {difference} |"
            )
    lines += [f"\n{name} could not be measured: {reason}" for name, reason in summary["missing"].items()]
    return "\n".join(lines) + "\n"
