"""A small piece of work for the methods: two tasks on a small model."""

from pathlib import Path

from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.context import Work
from headatlas.run.scoring import Encoder
from tests import tiny


def work(folder: Path, model: HeadModel | None = None) -> Work:
    model = model or tiny.model()
    return Work(model, tiny.suite().split(), Runner(folder, Reporter(quiet=True)), Encoder(model))
