"""What `verify` saves where interventions share what none of them changes: processor time against whole forwards."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from benchmarks.clock import report
from headatlas.evidence.choice import INTACT, matched
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.batches import make_batches
from headatlas.run.cells import Runner
from headatlas.run.context import RunContext
from headatlas.run.encoding import Encoder, Option
from headatlas.run.interventions import Gates, Pushes, gates_without, score_under
from headatlas.run.packing import pack
from headatlas.run.sets import score_pushes, score_sets, starts_of
from headatlas.suites.cognitive import cognitive

EXAMPLES, SETS, HEADS, PUSHES = 8, 12, 16, 6
LOWEST = {"Retrieval": 1 / 2, "Math Calculation": 0}  # the relative depth from which on heads are removed


def run(model: HeadModel) -> None:
    """Sets of heads matched by layer, and pushes, on held-out examples with all their options."""
    with tempfile.TemporaryDirectory() as folder:
        context = RunContext(model, cognitive().split(), Runner(Path(folder), Reporter(quiet=True)), Encoder(model))
        encoded = {
            task: [context.encoder.encode(e) for e in context.examples(task, "evaluate")[:EXAMPLES]] for task in LOWEST
        }
    for task, depth in LOWEST.items():
        lowest = round(depth * model.n_layers)
        ratio = _sets(model, encoded[task], lowest)
        report(f"{SETS} sets from layer {lowest}, {task}: times faster than whole forwards", ratio, "x", "at least 1")
    report(f"{PUSHES} pushes: times faster than whole forwards", _pushes(model, encoded[task]), "x", "at least 2")


def _sets(model: HeadModel, options: list[list[Option]], lowest: int) -> float:
    plain, gates = make_batches(options, closed=True), _gates(model, lowest)
    packed = pack(options, starts_of(model, gates), model.sharing.prefix)
    whole = _spent(lambda: [score_under(model, batch, Gates(gates)) for batch in plain])
    return whole / _spent(lambda: [score_sets(model, batch, gates) for batch in packed])


def _pushes(model: HeadModel, options: list[list[Option]]) -> float:
    batches = make_batches(options, closed=True)
    pushes = torch.randn(PUSHES, *model.shape, model.head_dim, generator=torch.Generator().manual_seed(0))
    whole = _spent(lambda: [score_under(model, batch, Pushes(pushes)) for batch in batches])
    return whole / _spent(lambda: [score_pushes(model, batch, pushes) for batch in batches])


def _gates(model: HeadModel, lowest: int) -> torch.Tensor:
    """The intact model, and random sets with the same layers."""
    rng, (layers, heads) = np.random.default_rng(0), model.shape
    chosen = rng.permutation((layers - lowest) * heads)[:HEADS] + lowest * heads
    top = frozenset((int(i) // heads, int(i) % heads) for i in chosen)
    return gates_without(model.shape, [INTACT, *(matched(top, model.shape, rng) for _ in range(SETS))])


def _spent(work: Callable[[], object]) -> float:
    """Seconds of processor time."""
    begin = time.process_time()
    work()
    return time.process_time() - begin
