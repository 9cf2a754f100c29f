"""A stand-in for a tokenizer that is not at hand: words, digits and marks, each a token."""

from __future__ import annotations

import re

PIECE = re.compile(r"\s?[^\W\d]+|\d|\s?[^\w\s]|\s")


class Words:
    """Counts tokens of English texts about as byte-pair tokenizers do, which have most words whole. Long words are cut
    every `LONGEST` letters. Has as much of a tokenizer as planning needs."""

    LONGEST = 10
    bos_token_id = eos_token_id = chat_template = None
    all_special_ids: tuple[int, ...] = ()

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        pieces = [
            piece[start : start + self.LONGEST]
            for piece in PIECE.findall(text)
            for start in range(0, len(piece), self.LONGEST)
        ]
        return {"input_ids": [self._numbers.setdefault(piece, len(self._numbers)) for piece in pieces]}

    def get_vocab(self) -> dict[str, int]:
        return dict(self._numbers)
