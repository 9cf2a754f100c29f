"""Cells side by side, each on one core, against one cell after the other on all of them: exact effects, attribution."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from benchmarks.clock import interleaved, report
from headatlas.methods.effects import attributed_effects, exact_effects, single_heads
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.context import RunContext
from headatlas.run.crew import Crew
from headatlas.run.encoding import Encoder
from headatlas.run.quantity import plan_quantity
from headatlas.suites.cognitive import cognitive

TASK, EXAMPLES, HEADS = "Retrieval", 48, 27  # heads spread over all layers
REPEATS = 3


def run(model: HeadModel) -> None:
    context = RunContext(model, cognitive().split(), Runner(Path(), Reporter(quiet=True)), Encoder(model))
    crew, alone = Crew.of(model), Crew(model)
    if crew.lanes == 1:
        print("There is one lane on this machine: nothing to compare.")
        return
    for name, measure in {"exact effects": _exact, "attribution": _attributed}.items():
        turns, lanes = interleaved([partial(measure, context, alone), partial(measure, context, crew)], REPEATS)
        report(f"{name}, {crew.lanes} cells side by side: times as fast as in turn", turns / lanes, "x", "above 1")


def _exact(context: RunContext, crew: Crew) -> None:
    heads = context.heads[:: len(context.heads) // HEADS]
    with tempfile.TemporaryDirectory() as cells:
        quantity = plan_quantity(_anew(context, crew, cells), TASK, ("fit",)).only(range(EXAMPLES // 4))
        exact_effects("", {TASK: quantity}, {TASK: single_heads(heads)})


def _attributed(context: RunContext, crew: Crew) -> None:
    with tempfile.TemporaryDirectory() as cells:
        quantity = plan_quantity(_anew(context, crew, cells), TASK, ("fit",)).only(range(EXAMPLES))
        attributed_effects("", {TASK: quantity})


def _anew(context: RunContext, crew: Crew, cells: str) -> RunContext:
    """The context without cells of an earlier run."""
    return context.with_runner(Runner(Path(cells), Reporter(quiet=True), crew=crew))
