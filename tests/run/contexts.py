"""The context of a small run, for the tests of everything that is given one."""

from pathlib import Path

from headatlas.model.heads import HeadModel
from headatlas.run.cells import Runner
from headatlas.run.context import RunContext
from headatlas.run.encoding import Encoder
from headatlas.suites.suite import Suite
from tests import tiny


def run_context(
    folder: Path, model: HeadModel | None = None, suite: Suite | None = None, chat: bool = False
) -> RunContext:
    """Two tasks on a small model, unless others are given; remarks are in `context.runner.reporter.said`."""
    model = model or tiny.model()
    splits = (suite or tiny.suite()).split()
    return RunContext(model, splits, Runner(folder, tiny.Listener()), Encoder(model, chat))
