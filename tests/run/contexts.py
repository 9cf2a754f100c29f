"""The context of a small run, for the tests of everything that is given one."""

from pathlib import Path

import torch

from headatlas.model.heads import HeadModel
from headatlas.run.batches import make_batches
from headatlas.run.cells import Runner
from headatlas.run.context import RunContext
from headatlas.run.encoding import Encoder, Option
from headatlas.run.pairs import Side
from headatlas.suites.suite import Suite
from tests import tiny


def run_context(
    folder: Path, model: HeadModel | None = None, suite: Suite | None = None, chat: bool = False
) -> RunContext:
    """Two tasks on a small model, unless others are given; remarks are in `context.runner.reporter.said`."""
    model = model or tiny.model()
    splits = (suite or tiny.suite()).split()
    return RunContext(model, splits, Runner(folder, tiny.Listener()), Encoder(model, chat))


def opposite_sides() -> tuple[Side, Side]:
    """Two texts of eleven tokens, each twice, and each beside the other."""
    text, other = (make_batches([[Option(tuple(tokens), 10)]] * 2)[0] for tokens in (range(1, 12), range(11, 0, -1)))
    index, where = torch.arange(10).repeat(2, 1), torch.ones(2, 10, dtype=torch.bool)
    return Side(text, other.ids, index, where), Side(other, text.ids, index, where)
