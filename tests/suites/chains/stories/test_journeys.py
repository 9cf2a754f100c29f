from __future__ import annotations

import re

from tests.suites.chains.reading import check_answers, find, numbers

CAPITALS = {"France": "Paris", "Italy": "Rome", "Spain": "Madrid", "Germany": "Berlin", "Japan": "Tokyo"}
LANGUAGES = {
    "Brazil": "Portuguese", "Austria": "German", "Mexico": "Spanish", "Egypt": "Arabic", "Australia": "English",
}  # fmt: skip
MEMBERS = {
    "mammal": "bat dolphin kangaroo", "bird": "penguin ostrich sparrow", "reptile": "lizard crocodile snake",
    "string": "cello harp guitar", "wind": "flute trumpet clarinet", "percussion": "drum gong tambourine",
    "fruits": "cherries bananas peaches", "vegetables": "carrots cabbages onions",
    "sweets": "lollipops toffees gumdrops", "metal": "copper iron lead", "wood": "oak pine beech",
    "fabric": "velvet wool linen", "aircraft": "helicopter glider jet", "boat": "canoe yacht kayak",
    "car": "taxi limousine jeep",
}  # fmt: skip


def trains(text: str) -> list[object]:
    city = CAPITALS[find(r"through (\w+),", text)[1]]
    (due,), (late,) = numbers(rf"to {city} at (\d+) o'clock", text), numbers(r"leave (\d) hours? late", text)
    before, after = numbers(r"before (\d+)", text)[0], numbers(r"after (\d+)", text)[0]
    assert numbers(r"between (\d+) and (\d+)", text) == (before, after)
    platforms, real = re.findall(r"platform (\d+)", text), due + late
    platform = platforms[0] if real < before else platforms[2] if real > after else platforms[1]
    assert real not in (before, after)
    return [city, due, late, real, platform]


def guide(text: str) -> list[object]:
    language = LANGUAGES[find(r"family from (\w+)", text)[1]]
    (start,), (length,) = numbers(rf"in {language} at (\d+) o'clock", text), numbers(r"takes (\d) hours", text)
    buses = {int(hour): colour for colour, hour in re.findall(r"the (\w+) bus leaves at (\d+)", text)}
    assert len(buses) == 3
    return [language, start, start + length, buses[min(hour for hour in buses if hour >= start + length)]]


def kinds(text: str) -> list[object]:
    thing = find(r"takes the (\w+) from", text)[1]
    (kind,) = [kind for kind, members in MEMBERS.items() if thing in members.split()]
    (label,) = re.findall(rf"\b{kind}s?(?: instruments)? are kept in the (\w+) \w+", text)
    (minutes,) = numbers(rf"(\d+) minutes to the {label} ", text)
    return [thing, kind, label, minutes + minutes]


def test_answers_follow_from_the_text() -> None:
    check_answers({"trains": trains, "guide": guide, "kinds": kinds})
