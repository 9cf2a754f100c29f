"""A head that answers, and one that takes over where it is removed."""

from __future__ import annotations

from headatlas.planted.base import Planted
from headatlas.planted.canvas import GPT2Canvas
from headatlas.planted.noise import fill
from headatlas.planted.tasks import pick
from headatlas.planted.words import COLOURS, ORDINALS
from headatlas.suites.suite import Suite

MAIN, BACKUP = (0, 4), (2, 3)


def draw(seed: int) -> GPT2Canvas:
    """The main head also writes that it has answered; the backup then rests on the first token."""
    canvas = GPT2Canvas(seed)
    positions = canvas.space["position"][1 : 1 + len(ORDINALS)]
    for head, role, size in ((MAIN, "helps", 1.0), (BACKUP, "backup", 0.6)):
        canvas.plant(head, role)
        canvas.look(head, canvas.tokens(ORDINALS), positions, score=4.5)
        canvas.copy(head, canvas.tokens(COLOURS), canvas.out(COLOURS), size)
    canvas.write(MAIN)[:, : len(COLOURS)] += canvas.space["done"].T  # every colour that it copies is an answer
    canvas.rest(MAIN, canvas.always, score=2.5)  # so that it answers only where it is asked
    canvas.rest(BACKUP, canvas.space["done"][0], score=9.0)
    fill(canvas, suite(seed).examples)
    return canvas


def suite(seed: int) -> Suite:
    return Suite("planted backup", tuple(pick(seed)))


MODEL = Planted(
    name="backup",
    shows="a head that takes over when the main one is removed",
    draw=draw,
    suite=suite,
    roles={"Pick": {MAIN: "helps", BACKUP: "backup"}},
)
