from __future__ import annotations

import re

from tests.suites.chains.reading import check_answers, everything, family, find

# A word of a clue, what the clue implies, and, where that decides, what to do.
IMPLIED = {
    "umbrellas": ("rainy", ""), "sledges": ("snowy", ""), "dark glasses": ("sunny", ""),
    "cocks": ("dawn", ""), "overhead": ("noon", ""), "moon is out": ("night", ""),
    "loaves": ("baker", ""), "sum on the board": ("teacher", ""), "lands the plane": ("pilot", ""),
    "sailors": ("ship", ""), "rails": ("train", ""), "clouds": ("plane", ""),
    "waves on": ("beach", ""), "milks": ("farm", ""), "doctors": ("hospital", ""),
    "empty bottles": ("thirsty", "water"), "shiver": ("cold", "blankets"), "runners yawn": ("sleepy", "mattresses"),
    "gauge": ("fuel", "canister"), "tyres": ("air", "pump"), "nothing shines": ("light", "bulb"),
    "its lead": ("walk", "open the door"), "empty plate": ("food", "fill the bowl"),
    "curls up": ("sleep", "dim the lamp"),
    "smoke": ("fire", "firefighters"), "silver is gone": ("theft", "police"), "drips": ("leak", "plumber"),
    "squint": ("too bright", "curtain"), "behind their ears": ("too quiet", "microphone"), "sweat": ("too hot", "fan"),
    "soup": ("cooking", "pan oven"), "tulips": ("gardening", "rake mower"), "chords": ("music", "harmonica piano"),
    "ducks": ("animals", "zoo safari"), "portraits": ("art", "gallery painting"),
    "planets": ("astronomy", "planetarium space"),
    "purr": ("cat", "cat"), "saddle": ("horse", "horse"), "perch": ("bird", "bird"),
    "sails": ("water", "lake beach"), "peaks": ("mountains", "mountain alpine"), "play every": ("theatres", "city"),
    "balcony": ("heights", "tunnel bus"), "barks": ("dogs", "cable donkey"), "lamp on": ("darkness", "husky coach"),
}  # fmt: skip
BARRED = re.compile(r"900 dollars|twenty days|often bites|one room|nine hours")


def clue(text: str) -> tuple[str, str]:
    found = [pair for words, pair in IMPLIED.items() if words in text]
    assert len(found) == 1, (text, found)
    return found[0]


def implied_rule(text: str) -> list[object]:
    implied, _ = clue(text)
    rule = text.split(". ")[0]
    found = [
        re.search(rf"the (\w+) (?:when it is|at) {implied}\b", rule),
        re.search(rf"every {implied} at the (\w+) table", rule),
        re.search(rf"(\w+) on a {implied}\b", rule),
        re.search(rf"by (\w+) to the {implied}\b", rule),
    ]
    (outcome,) = [match[1] for match in found if match]
    return [None, implied, outcome]


def need(text: str) -> list[object]:
    implied, remedy = clue(text)
    assert remedy in text
    return [None, implied, remedy]


def implied_choice(text: str) -> list[object]:
    implied, fitting = clue(text)
    offers = re.split(r", | and (?=an? )", find(r"(?:are|has) (an? [^.]*)\. Which", text)[1])
    assert len(offers) == 3
    assert sum(bool(BARRED.search(offer)) for offer in offers) == 1
    left = [offer for offer in offers if not BARRED.search(offer) and any(word in offer for word in fitting.split())]
    (offer,) = left
    return [None, implied, find(r"^an? (.*?) (?:for|of|that|with) ", offer)[1]]


def test_answers_follow_from_the_text() -> None:
    check_answers({"implied-rule": implied_rule, "need": need, "implied-choice": implied_choice})


def test_an_inferred_word_does_not_stand_in_the_clue() -> None:
    for chain in everything():
        if family(chain) in ("need", "implied-choice"):
            (inferred,) = [step.answer for step in chain.steps if step.task == "Inference"]
            clues = [*re.split(r"(?<=\.) ", chain.question)[:2]]
            hint = next(text for text in clues if any(words in text for words in IMPLIED))
            assert not re.search(rf"\b{inferred}\b", hint), chain
