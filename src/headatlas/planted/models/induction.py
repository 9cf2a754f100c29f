"""A previous-token head and an induction head."""

from __future__ import annotations

from headatlas.planted.base import Planted
from headatlas.planted.canvas import GPT2Canvas
from headatlas.planted.noise import fill
from headatlas.planted.tasks import lookup
from headatlas.planted.words import COLOURS, NAMES
from headatlas.suites.suite import Suite

PREVIOUS, INDUCTION = (0, 2), (2, 1)


def draw(seed: int) -> GPT2Canvas:
    canvas = GPT2Canvas(seed)
    canvas.remember_previous(PREVIOUS, score=4.5)
    canvas.plant(INDUCTION, "helps")
    canvas.look(INDUCTION, canvas.tokens(NAMES), canvas.tokens(NAMES, "prev"), score=5.0)
    canvas.copy(INDUCTION, canvas.tokens(COLOURS), canvas.out(COLOURS))
    fill(canvas, suite(seed).examples)
    return canvas


def suite(seed: int) -> Suite:
    return Suite("planted induction", tuple(lookup(seed)))


MODEL = Planted(
    name="induction",
    shows="a previous-token head and an induction head of GPT-2",
    draw=draw,
    suite=suite,
    roles={"Lookup": {PREVIOUS: "helps", INDUCTION: "helps"}},
)
