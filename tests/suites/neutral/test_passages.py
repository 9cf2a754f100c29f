from __future__ import annotations

import re
from collections import Counter

from headatlas.suites.neutral.passages import PASSAGES, WORDS


def test_passages_are_plain_and_of_the_right_length() -> None:
    assert len(set(PASSAGES)) == len(PASSAGES) >= 60
    for text in PASSAGES:
        assert 30 <= len(text.split()) <= 60, text
        assert not re.search(r"[?\d\"]|\bmeans?\b", text), text
        assert text[0].isupper()
        assert text.endswith(".")


def test_a_word_has_one_form_and_one_field() -> None:
    counts = Counter(word for fields in WORDS.values() for text in fields.values() for word in text.split())
    assert [word for word, count in counts.items() if count > 1] == []
