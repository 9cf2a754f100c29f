"""Key-value retrieval in three steps: remember the token before, look the value up, bring it to the end."""

from __future__ import annotations

from headatlas.planted.base import Planted
from headatlas.planted.canvas import LlamaCanvas
from headatlas.planted.noise import fill
from headatlas.planted.tasks import lookup
from headatlas.planted.words import COLOURS, NAMES
from headatlas.suites.suite import Suite

PREVIOUS, LOOKUP, MOVER = (0, 5), (1, 2), (2, 6)


def draw(seed: int) -> LlamaCanvas:
    canvas = LlamaCanvas(seed)
    canvas.remember_previous(PREVIOUS, score=4.0)
    canvas.plant(LOOKUP, "helps")
    canvas.look(LOOKUP, canvas.tokens(NAMES), canvas.tokens(NAMES, "prev"), score=5.0)
    canvas.copy(LOOKUP, canvas.tokens(COLOURS), canvas.space["found"])
    canvas.plant(MOVER, "helps")
    canvas.look_back(MOVER, score=4.0)
    canvas.copy(MOVER, canvas.space["found"], canvas.out(COLOURS), size=1.3)
    fill(canvas, suite(seed).examples)
    return canvas


def suite(seed: int) -> Suite:
    return Suite("planted retrieval", tuple(lookup(seed, ending="seen")))


MODEL = Planted(
    name="retrieval",
    shows="key-value retrieval by three heads of Llama with grouped queries",
    draw=draw,
    suite=suite,
    roles={"Lookup": {PREVIOUS: "helps", LOOKUP: "helps", MOVER: "helps"}},
)
