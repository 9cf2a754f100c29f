"""What a planted model is: a model whose heads are known, tasks for it, and the truth about both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headatlas.suites.suite import Suite

if TYPE_CHECKING:
    from headatlas.model.heads import HeadModel
    from headatlas.planted.canvas import Canvas, Head
    from headatlas.planted.truth import Truth


@dataclass(frozen=True)
class Planted:
    """A model made by code, with its tasks.

    `shows` says in one sentence what it is for. `draw(seed)` makes the model, `suite(seed)` its tasks. `roles` says
    what was planted: {task: {head: role}}, with the roles `helps`, `hurts` and `backup`. It is a claim; `truth` checks
    it by editing weights. `saturated`: attention is so sharp that gradients vanish.
    """

    name: str
    shows: str
    draw: Callable[[int], Canvas]
    suite: Callable[[int], Suite]
    roles: Mapping[str, Mapping[Head, str]]
    saturated: bool = False

    def build(self, seed: int = 0) -> HeadModel:
        """The model with its tokenizer, as any other model."""
        from headatlas.model.heads import HeadModel
        from headatlas.planted.words import tokenizer

        return HeadModel(self.draw(seed).module, tokenizer(), name=f"planted {self.name}")

    def truth(self, seed: int = 0) -> Truth:
        """The effect of removing every head, measured on the model itself by editing its weights."""
        from headatlas.planted.truth import establish

        return establish(self, seed)
