"""Tokens as texts: pieces that put together give the text again, and single tokens of the vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

BROKEN = "\ufffd"  # what a tokenizer shows of a character that is not complete


def pieces(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """The text of every token where it stands. A character of several tokens is with the last of them."""
    texts, shown = [], 0
    for end in range(1, len(ids) + 1):
        text = _decode(tokenizer, ids[:end])
        stable = text if end == len(ids) else text.rstrip(BROKEN)
        texts.append(stable[shown:])
        shown = max(shown, len(stable))
    return texts


@lru_cache(maxsize=65536)
def word(tokenizer: Any, token: int) -> str:
    """A token by itself; one that begins a word begins with a blank, whatever the tokenizer writes for it."""
    text = _decode(tokenizer, [token])
    begins = str(tokenizer.convert_ids_to_tokens(token)).startswith(("\u2581", "\u0120"))
    return f" {text}" if begins and not text.startswith(" ") else text


def _decode(tokenizer: Any, ids: Sequence[int]) -> str:
    return tokenizer.decode(list(ids), clean_up_tokenization_spaces=False)
