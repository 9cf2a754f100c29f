"""A lookup with a head that argues against the right answer."""

from __future__ import annotations

from headatlas.planted.base import Planted
from headatlas.planted.canvas import LlamaCanvas
from headatlas.planted.noise import fill
from headatlas.planted.tasks import lookup
from headatlas.planted.words import COLOURS, NAMES
from headatlas.suites.suite import Suite

PREVIOUS, LOOKUP, HARMFUL = (0, 1), (1, 7), (2, 4)


def draw(seed: int) -> LlamaCanvas:
    canvas = LlamaCanvas(seed)
    canvas.remember_previous(PREVIOUS, score=4.0)
    for head, role, size in ((LOOKUP, "helps", 1.4), (HARMFUL, "hurts", -0.6)):
        canvas.plant(head, role)
        canvas.look(head, canvas.tokens(NAMES), canvas.tokens(NAMES, "prev"), score=5.0)
        canvas.copy(head, canvas.tokens(COLOURS), canvas.out(COLOURS), size)
    fill(canvas, suite(seed).examples)
    return canvas


def suite(seed: int) -> Suite:
    return Suite("planted harmful", tuple(lookup(seed)))


MODEL = Planted(
    name="harmful",
    shows="a head that argues against the right answer",
    draw=draw,
    suite=suite,
    roles={"Lookup": {PREVIOUS: "helps", LOOKUP: "helps", HARMFUL: "hurts"}},
)
