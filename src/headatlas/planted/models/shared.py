"""Three tasks in one model: two of them share a head, and their other heads share keys and values."""

from __future__ import annotations

from headatlas.planted.base import Planted
from headatlas.planted.canvas import LlamaCanvas
from headatlas.planted.noise import fill
from headatlas.planted.tasks import lookup, spot
from headatlas.planted.words import COLOURS, NAMES
from headatlas.suites.suite import Suite

PREVIOUS, GIVE, TURN, SEEN = (0, 3), (1, 4), (1, 5), (2, 1)
OPPOSITES = dict(zip(COLOURS, (*COLOURS[6:], *COLOURS[:6]), strict=True))


def draw(seed: int) -> LlamaCanvas:
    """`give` and `turn` look at the same colours; each rests on the first token when something else is asked for."""
    canvas = LlamaCanvas(seed)
    canvas.remember_previous(PREVIOUS, score=4.0, words=(*NAMES, "give", "turn"))
    canvas.plant(GIVE, "helps")
    canvas.look(GIVE, canvas.tokens(NAMES), canvas.tokens(NAMES, "prev"), score=5.0)
    canvas.ask_rest(GIVE, canvas.tokens(("turn",), "prev")[0], score=8.0)
    canvas.rest(GIVE, canvas.tokens(("seen",))[0], score=8.0)
    canvas.copy(GIVE, canvas.tokens(COLOURS), canvas.out(COLOURS))
    canvas.plant(TURN, "helps", shared=True)
    canvas.ask(TURN, canvas.tokens(NAMES), score=5.0)
    canvas.ask_rest(TURN, canvas.tokens(("give",), "prev")[0], score=8.0)
    canvas.ask_rest(TURN, canvas.tokens(("seen",))[0], score=8.0)
    canvas.say(TURN, canvas.out(tuple(OPPOSITES[colour] for colour in COLOURS)))
    canvas.plant(SEEN, "helps")
    canvas.look(SEEN, canvas.tokens(("seen",)), canvas.tokens(COLOURS).sum(0, keepdim=True), score=5.0)
    canvas.rest(SEEN, canvas.always, score=2.0)
    canvas.copy(SEEN, canvas.tokens(COLOURS), canvas.out(COLOURS))
    fill(canvas, suite(seed).examples)
    return canvas


def suite(seed: int) -> Suite:
    examples = (*lookup(seed, "Give"), *lookup(seed, "Turn", "turn", OPPOSITES), *spot(seed))
    return Suite("planted shared", examples)


MODEL = Planted(
    name="shared",
    shows="three tasks in one model, two of which share a head",
    draw=draw,
    suite=suite,
    roles={
        "Give": {PREVIOUS: "helps", GIVE: "helps"},
        "Turn": {PREVIOUS: "helps", TURN: "helps"},
        "Spot": {SEEN: "helps"},
    },
)
