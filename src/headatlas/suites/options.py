"""Options of which one begins another, as text. What that does to their scores is for `run/nesting.py` to say."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations


def is_cut_short(first: str, second: str) -> bool:
    """Whether one text is the other, cut off at the end of a word or within a number.

    Forms of one word do not count: in most tokenizers each of them is a token of its own, so that neither begins the
    other. Where that is not so only the tokenizer knows.

    >>> is_cut_short(" 5", " 57"), is_cut_short(" New York", " New"), is_cut_short(" dig", " digs")
    (True, True, False)
    """
    shorter, longer = sorted((first.strip(), second.strip()), key=len)
    if shorter == longer or not longer.startswith(shorter):
        return False
    return not (shorter[-1].isalpha() and longer[len(shorter)].isalpha())


def any_cut_short(texts: Sequence[str]) -> bool:
    return any(is_cut_short(first, second) for first, second in combinations(texts, 2))
