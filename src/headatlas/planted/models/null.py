"""A model that needs none of its heads: it knows the answers by heart."""

from __future__ import annotations

from headatlas.planted.base import Planted
from headatlas.planted.canvas import LlamaCanvas
from headatlas.planted.noise import fill
from headatlas.planted.tasks import recite
from headatlas.planted.words import COLOURS, NAMES, ids
from headatlas.suites.suite import Suite


def draw(seed: int) -> LlamaCanvas:
    canvas = LlamaCanvas(seed, layers=2)
    canvas.embedding[ids(NAMES)] += canvas.out(COLOURS)
    fill(canvas)
    return canvas


def suite(seed: int) -> Suite:
    return Suite("planted null", tuple(recite(seed)))


MODEL = Planted(
    name="null",
    shows="a task for which no head matters",
    draw=draw,
    suite=suite,
    roles={},
)
