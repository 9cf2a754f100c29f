"""Effects of heads on texts that are given as tokens, without a suite: what `ablate` measures with `baseline=zero`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.context import RunContext
from headatlas.run.encoding import Encoder, Option
from headatlas.run.quantity import Item, TaskQuantity
from headatlas.stats import Array
from headatlas.suites.example import Example
from headatlas.suites.suite import Suite

TASK = "Texts"
Measured = Callable[[dict[str, TaskQuantity]], dict[str, Array]]


class NothingToEncode(Encoder):
    """Texts come as tokens, so the model needs no tokenizer."""

    def __init__(self) -> None:
        pass


class Texts:
    """A model that measures texts, in which the last token is the answer."""

    def __init__(self, model: HeadModel) -> None:
        self.example = Example(id="-", task=TASK, prompt="-", answer="-", group="-")  # texts come as tokens
        splits = {"fit": Suite("texts", (self.example,))}
        self.context = RunContext(model, splits, Runner(Path(), Reporter(quiet=True)), NothingToEncode())

    def measure(self, texts: Sequence[Sequence[int]], measured: Measured) -> Array:
        """What `measured` gives for the quantity of these texts, [text, ...], without cells of an earlier call."""
        items = tuple(Item(self.example, "choose", (Option(tuple(text), len(text) - 1),)) for text in texts)
        with tempfile.TemporaryDirectory() as cells:
            anew = self.context.with_runner(Runner(Path(cells), Reporter(quiet=True)))
            return measured({TASK: TaskQuantity(anew, TASK, "logprob", "zero", items)})[TASK]
