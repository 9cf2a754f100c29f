"""Where a word or a number ends: does a text that was written go on with it?"""

from __future__ import annotations

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=65536)
def goes_on(tokenizer: Any, last: int, following: int) -> bool:
    """Whether the token `following` continues the word or the number that the token `last` ends with.

    "57" continues "5", and so does "5.7"; "5." and "5 apples" do not.
    """
    before = tokenizer.decode([last], skip_special_tokens=True)
    after = tokenizer.decode([last, following], skip_special_tokens=True)[len(before) :]
    if not before[-1:].isalnum() or not after:
        return False
    decimal = before[-1].isdigit() and after[0] in ".," and after[1:2].isdigit()
    return after[0].isalnum() or decimal
