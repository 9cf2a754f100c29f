"""Batches side by side, each on one core, against one after the other on all of them: exact effects, and gradients."""

from __future__ import annotations

from functools import partial

from benchmarks.clock import interleaved, report
from headatlas.methods.effects import MEASURED_TOKENS
from headatlas.model.heads import HeadModel
from headatlas.run.ablation import ablate_each
from headatlas.run.batches import make_batches
from headatlas.run.crew import Crew
from headatlas.run.encoding import Encoder
from headatlas.run.interventions import Unit, gate_gradient
from headatlas.suites.cognitive import cognitive

TASK, BATCHES, REPEATS = "Retrieval", 8, 3


def run(model: HeadModel) -> None:
    encoder, layer = Encoder(model), model.n_layers // 2
    options = [encoder.encode(example)[:1] for example in cognitive().of(TASK)]
    batches = make_batches(options, MEASURED_TOKENS)[:BATCHES]
    units: list[Unit] = [(layer, (head,)) for head in range(model.n_heads)]
    crew, alone = Crew.of(model), Crew(model)
    if crew.lanes == 1:
        print("There is one lane on this machine: nothing to compare.")
        return
    works = {
        "exact effects": lambda batch: ablate_each(model, batch, units, None),
        "gradients": lambda batch: gate_gradient(model, batch, None),
    }
    for name, work in works.items():
        runs = [partial(some.share, batches, work, of=len(batches)) for some in (alone, crew)]
        turns, lanes = interleaved(runs, REPEATS)
        report(f"{name}, {crew.lanes} side by side: times as fast as in turn", turns / lanes, "x", "above 1")
