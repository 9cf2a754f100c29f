"""A model that needs none of its heads: it knows the answers by heart."""

from __future__ import annotations

from headatlas.planted.base import Planted
from headatlas.planted.canvas import LlamaCanvas
from headatlas.planted.noise import fill
from headatlas.planted.tasks import recite
from headatlas.planted.words import COLOURS, NAMES, ids
from headatlas.suites.suite import Suite

POPULATION = 600  # examples, over which no head has any effect on average; the suite has the first of them


def draw(seed: int) -> LlamaCanvas:
    canvas = LlamaCanvas(seed, layers=2)
    canvas.embedding[ids(NAMES)] += canvas.out(COLOURS)
    fill(canvas, list(recite(seed, examples=POPULATION)))
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
