"""How often does a method discover a head where none matters? Many draws of the null model, each with its tasks."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from headatlas.methods.base import Method
from headatlas.planted.base import Planted
from headatlas.planted.record import NullDraws
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.context import RunContext
from headatlas.run.encoding import Encoder
from headatlas.run.selection import split_examples
from headatlas.stats import LEVEL, q_values
from headatlas.workflows.presets import DEFAULT, split_limits


def draw_null(planted: Planted, methods: Sequence[Method], draws: int, reporter: Reporter) -> list[NullDraws]:
    """Map `draws` draws of a planted model where no head matters, by each method; a discovery has q < 0.05."""
    found = dict.fromkeys((method.info.name for method in methods), 0)
    with reporter.spinner(f"{draws} draws of a model where no head matters"):
        for seed in range(1, draws + 1):  # 0 is the model of the table
            with tempfile.TemporaryDirectory() as folder:
                context = _context(planted, seed, Path(folder))
                for method in methods:
                    found[method.info.name] += _discovers(method, context)
    return [NullDraws(method=name, draws=draws, with_discovery=count) for name, count in found.items()]


def _context(planted: Planted, seed: int, folder: Path) -> RunContext:
    model = planted.build(seed)
    splits = split_examples(planted.suite(seed), split_limits(DEFAULT, None), seed)
    return RunContext(model, splits, Runner(folder, Reporter(quiet=True)), Encoder(model))


def _discovers(method: Method, context: RunContext) -> bool:
    maps = [m for m in method.measure(context).maps if m.measure == method.info.primary]
    return any(bool((q_values(m.summary.p_value) < LEVEL).any()) for m in maps)
