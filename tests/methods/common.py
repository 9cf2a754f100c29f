"""A small run context for the methods: two tasks on a small model."""

from pathlib import Path

from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.context import RunContext
from headatlas.run.encoding import Encoder
from tests import tiny


def context(folder: Path, model: HeadModel | None = None) -> RunContext:
    model = model or tiny.model()
    return RunContext(model, tiny.suite().split(), Runner(folder, Reporter(quiet=True)), Encoder(model))
