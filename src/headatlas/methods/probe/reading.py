"""Where z is read: which positions count as those of the answer."""

from __future__ import annotations

from dataclasses import dataclass

from headatlas.errors import UsageError, unknown

# Which positions are averaged.
TOKENS = {
    "important": "the k answer tokens that depend most on the question",
    "first": "the first answer token",
    "last": "the last answer token",
    "all": "all answer tokens",
    "mean": "every position that is fed, prompt and answer",
}


@dataclass(frozen=True)
class Reading:
    """`tokens` names the positions, `k` how many of them count as important."""

    tokens: str = "important"
    k: int = 5

    def __post_init__(self) -> None:
        if self.tokens not in TOKENS:
            raise unknown("choice of answer tokens", self.tokens, TOKENS)
        if self.k < 1:
            raise UsageError(f"The {self.k} most important answer tokens were asked for; take at least 1.")
