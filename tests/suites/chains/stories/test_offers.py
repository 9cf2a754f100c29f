from __future__ import annotations

import re

from tests.suites.chains.reading import check_answers, find, numbers

GOOD = re.compile(r"hold for|large and clear|coat pocket|clear glass|sugar")


def budget(text: str) -> list[object]:
    money, needed = numbers(r"has (\d+) dollars and needs (\d+)", text)
    prices = {shop: int(price) for price, shop in re.findall(r"(\d+) dollars at the (\w+)", text)}
    order = find(r"The (\w+) is the nearest, then comes the (\w+), and the (\w+) is the farthest", text).groups()
    return [needed, money, money // needed, next(shop for shop in order if prices[shop] * needed <= money)]


def quality(text: str) -> list[object]:
    (needed,) = numbers(r"needs (\d+) ", text)
    offers = re.findall(r"The (\w+) ones (.*?) and cost (\d+) dollars each\.", text)
    ((colour, _, price),) = [offer for offer in offers if GOOD.search(offer[1])]
    return [None, needed, colour, needed * int(price)]


def order(text: str) -> list[object]:
    least = {"lighter": 1, "faster": 1, "quieter": 1, "stronger": 1, "brighter": 1}
    pairs = [
        (a, b) if word in least else (b, a) for a, word, b in re.findall(r"he (\w+) \w+ is (\w+) than the (\w+)", text)
    ]
    names = {name for pair in pairs for name in pair}
    ranked = sorted(names, key=lambda name: -sum((name, other) in closure(pairs) for other in names))
    assert len(ranked) == 3
    name, promised = find(r"(\w+) wants", text)[1], find(r"promised the (\w+)", text)[1]
    return [promised, name, ranked[0], next(label for label in ranked if label != promised)]


def closure(pairs: list[tuple[str, str]]) -> set[tuple[str, str]]:
    return set(pairs) | {(a, d) for a, b in pairs for c, d in pairs if b == c}


def test_answers_follow_from_the_text() -> None:
    check_answers({"budget": budget, "quality": quality, "order": order})
