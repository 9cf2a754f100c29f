"""How well do lent twins do? Attribution with the suite's twins and with other examples in their place (`pair`).

Both maps are judged by the map of the twins: of the effects on a task, the share in the task's first 16 heads, less
that in the first 16 heads of each other task.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.clock import report
from headatlas.methods.effects import attributed_both_ways
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.context import RunContext
from headatlas.run.encoding import Encoder
from headatlas.run.quantity import plan_quantity
from headatlas.run.selection import split_examples
from headatlas.stats import Array, overlap, rank_correlation
from headatlas.suites import load_suite
from headatlas.workflows.presets import split_limits

TOP = 16
LEFT_OUT = ("Logical Reasoning",)  # the bundled model is at chance there


def run(model: HeadModel) -> None:
    suite = load_suite("cognitive")
    suite = suite.only([task for task in suite.tasks if task not in LEFT_OUT])
    splits = split_examples(suite, split_limits("quick", None), 0)
    with tempfile.TemporaryDirectory() as folder:
        context = RunContext(model, splits, Runner(Path(folder), Reporter()), Encoder(model))
        maps: dict[str, dict[str, Array]] = {}
        for baseline in ("twin", "pair"):
            planned = {task: plan_quantity(context, task, ("choose",), "margin", baseline) for task in suite.tasks}
            effects = attributed_both_ways(f"Attribution, {baseline}", planned, {})[0]
            maps[baseline] = {task: np.maximum(values.mean(0), 0) for task, values in effects.items()}
            for task, quantity in planned.items():
                paired = len(quantity.items) / (len(quantity.items) + quantity.left_out)
                report(f"{task}, {baseline}: examples that can be used", paired, "", "")
    for task in suite.tasks:
        twin, pair = maps["twin"][task], maps["pair"][task]
        report(f"{task}: rank correlation of pair and twin", rank_correlation(twin, pair), "", "")
        report(f"{task}: shared among the first {TOP} heads", overlap(twin, pair, TOP), "", "0.06 by chance")
        for baseline in ("twin", "pair"):
            own, others = _specificity(task, maps["twin"][task], maps[baseline])
            report(f"{task}, {baseline}: share of the task's effects in its heads, and less others'", own, "",
                   f"{own - others:.2f}")  # fmt: skip


def _specificity(task: str, effects: Array, maps: dict[str, Array]) -> tuple[float, float]:
    """The share of a task's effects in the first heads of its map, and in those of the other tasks, on average."""

    def caught(name: str) -> float:
        return float(effects[np.argsort(-maps[name], kind="stable")[:TOP]].sum() / effects.sum())

    return caught(task), float(np.mean([caught(other) for other in maps if other != task]))
