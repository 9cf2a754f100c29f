"""A previous-token head and an induction head whose attention leaves gradients nothing to see.

Every position holds next to nothing but what heads wrote, so the norms of the layers follow them: the model is the same
with all heads scaled alike. Attention is a hard choice.
"""

from __future__ import annotations

from headatlas.planted.base import Planted
from headatlas.planted.canvas import GPT2Canvas
from headatlas.planted.noise import fill
from headatlas.planted.tasks import lookup
from headatlas.planted.words import COLOURS, NAMES
from headatlas.suites.suite import Suite

PREVIOUS, INDUCTION = (0, 1), (1, 2)


def draw(seed: int) -> GPT2Canvas:
    canvas = GPT2Canvas(seed, layers=2, steady=0.0)
    canvas.remember_previous(PREVIOUS, score=5.0, size=3.0)
    canvas.plant(INDUCTION, "helps")
    canvas.look(INDUCTION, canvas.tokens(NAMES), canvas.tokens(NAMES, "prev"), score=2.0)
    canvas.copy(INDUCTION, canvas.tokens(COLOURS), canvas.out(COLOURS))
    fill(canvas, suite(seed).examples, size=0.05)
    return canvas


def suite(seed: int) -> Suite:
    return Suite("planted saturated", tuple(lookup(seed)))


MODEL = Planted(
    name="saturated",
    shows="an induction circuit with hard attention and norms that follow the heads",
    draw=draw,
    suite=suite,
    roles={"Lookup": {PREVIOUS: "helps", INDUCTION: "helps"}},
    saturated=True,
)
