"""What the probe costs: reading features while competence runs, against competence alone; and fitting with its null."""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path

from benchmarks.clock import interleaved, report, seconds
from headatlas.methods.probe.data import ProbeData
from headatlas.methods.probe.features import feature_reader
from headatlas.methods.probe.linear import fit_linear
from headatlas.methods.probe.reading import Reading
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.context import RunContext
from headatlas.run.encoding import Encoder
from headatlas.run.intact import intact_cell, intact_cells
from headatlas.suites.cognitive import cognitive

SHUFFLES = 20


def run(model: HeadModel) -> None:
    suite = cognitive()
    with tempfile.TemporaryDirectory() as folder:
        context = RunContext(model, suite.split(), Runner(Path(folder), Reporter(quiet=True)), Encoder(model))
        batches = [batch for task in context.tasks for batch in context.intact_batches(task, "choose")[::6]]
        tokens = sum(batch.ids.numel() for batch in batches)

        def bare() -> None:
            for batch in batches:
                intact_cell(context, batch).compute()

        def reading() -> None:
            for batch in batches:
                for cell in intact_cells(context, batch, [feature_reader(context, batch, Reading())]):
                    cell.compute()

        plain, read = interleaved([bare, reading], repeats=3)
        report(f"competence with features, {tokens} tokens: against competence alone", read / plain, "x", "at most 1.3")
        data = ProbeData.collect(context, Reading())
        rows = sum(len(labels) for labels in data.labels.values())
        spent = seconds(lambda: fit_linear(context, data, SHUFFLES, seeds=1))
    report(f"linear probe, {rows} examples, {SHUFFLES} shuffled refits", spent, "s", "below 90")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    report("features and probe: peak memory of this process", peak, "GB", "below 3")
