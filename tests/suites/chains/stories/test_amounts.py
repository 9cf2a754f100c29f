from __future__ import annotations

import re

from headatlas.suites.chains import situations
from tests.suites.chains.reading import check_answers, find, numbers

PARTS = {"spiders": 8, "weeks": 7, "hexagons": 6, "years": 12, "tricycles": 3, "violins": 4}


def banded(text: str, number: int) -> str:
    """What a rule with two bounds gives: the labels stand in the text from the lowest band to the highest."""
    low, high = numbers(r"(?:from|with|work of) (\d+) to (\d+)", text)
    assert number not in (low, high)
    rule = text[find(r"(below|fewer than|less than) ", text).start() :]
    labels = re.findall(
        r"(?: a|the) (\w+)(?: (?:badge|seat|flag|box|hat|voucher|ticket|sticker|cake|pass))?[,. ]", rule
    )
    labels = [label for label in labels if label not in ("number", "child")][:3]
    return labels[0] if number < low else labels[1] if number < high else labels[2]


def counting(text: str) -> list[object]:
    things, what = find(r"(\d+) (\w+) have, and", text).groups()
    total = sum(PARTS[what] for _ in range(int(things)))
    return [int(things), PARTS[what], total, banded(text, total)]


def pronoun(text: str) -> list[object]:
    owned = {name: int(number) for name, number in re.findall(r"(\w+) has (\d+) ", text)}
    pattern = r"(\w+) gives (\d+) \w+ to (\w+) because (he|she) (\w+ [^.]*|\w+)\."
    giver, given, getter, word, _ = find(pattern, text).groups()
    sex = dict.fromkeys(situations.MEN, "he") | dict.fromkeys(situations.WOMEN, "she")
    (child,) = [name for name in (giver, getter) if sex[name] == word]
    last = owned[child] + (int(given) if child == getter else -int(given))
    return [child, owned[child], int(given), last, banded(text, last)]


def duty(text: str) -> list[object]:
    things, each = numbers(r"has to \w+ (\d+) \w+, and each of them takes (\d+)", text)
    return [None, things, each, things * each, banded(text, things * each)]


def test_answers_follow_from_the_text() -> None:
    check_answers({"counting": counting, "pronoun": pronoun, "duty": duty})
