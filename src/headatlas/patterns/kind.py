"""What a kind of statement declares, and the obstacles that several kinds share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from headatlas.patterns.finding import Statement
from headatlas.patterns.nulls import Nulls

Subject = TypeVar("Subject")


def no_obstacle(subject: object) -> None:
    """The kind can be asked of every subject."""


@dataclass(frozen=True)
class Kind(Generic[Subject]):
    """One kind of statement about a subject: a map with its nulls, a comparison of tasks, or pairs of maps.

    `null` says in words what the answer is compared with. `answer` gives the statements, not yet judged. `obstacle`
    gives the reason why the question cannot be asked of a subject, or None.
    """

    name: str
    question: str
    null: str
    answer: Callable[[Subject], Sequence[Statement]]
    obstacle: Callable[[Subject], str | None] = no_obstacle


def one_layer(nulls: Nulls) -> str | None:
    return "the map has one layer" if len(np.unique(nulls.map.layer)) == 1 else None


def one_head_per_layer(nulls: Nulls) -> str | None:
    return "every layer has one head" if np.bincount(nulls.map.layer).max() == 1 else None
