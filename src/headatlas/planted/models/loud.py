"""Heads that write nothing, and heads that write a lot where nobody reads."""

from __future__ import annotations

from headatlas.planted.base import Planted
from headatlas.planted.canvas import GPT2Canvas
from headatlas.planted.noise import fill
from headatlas.planted.tasks import pick
from headatlas.planted.words import COLOURS, ORDINALS
from headatlas.suites.suite import Suite

PICK = (1, 0)
DEAD, LOUD = ((0, 0), (1, 3), (2, 5)), ((0, 5), (1, 2), (2, 2))


def draw(seed: int) -> GPT2Canvas:
    canvas = GPT2Canvas(seed)
    canvas.plant(PICK, "helps")
    canvas.look(PICK, canvas.tokens(ORDINALS), canvas.space["position"][1 : 1 + len(ORDINALS)], score=4.5)
    canvas.copy(PICK, canvas.tokens(COLOURS), canvas.out(COLOURS))
    fill(canvas, suite(seed).examples, DEAD, LOUD)
    return canvas


def suite(seed: int) -> Suite:
    return Suite("planted loud", tuple(pick(seed)))


MODEL = Planted(
    name="loud",
    shows="one head that matters among dead heads and loud ones",
    draw=draw,
    suite=suite,
    roles={"Pick": {PICK: "helps"}},
)
