"""Every answer that follows from the text is worked out again from the text alone, by other means."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache

import pytest

from headatlas.suites.chains import situations
from headatlas.suites.chains.chain import HIGH, LOW, Chain, chain_examples
from headatlas.suites.chains.generate import generate
from headatlas.suites.suite import Suite, to_jsonl

SIZE = 200
SEEDS = (0, 7, 1234)

# What everybody knows; the generator's own table is not read here.
PARTS = {"spiders": 8, "weeks": 7, "hexagons": 6, "years": 12, "tricycles": 3, "violins": 4}
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
GOOD = re.compile(r"hold for|large and clear|coat pocket|clear glass|sugar")


@cache
def chains(seed: int = 0) -> list[Chain]:
    return generate(seed, SIZE)


def everything() -> list[Chain]:
    return [chain for seed in SEEDS for chain in chains(seed)]


def family(chain: Chain) -> str:
    name = re.fullmatch(r"chains/([a-z-]+)-[a-z]+", chain.group)
    assert name, chain.group
    return name[1]


def find(pattern: str, text: str) -> re.Match[str]:
    found = re.search(pattern, text)
    assert found, (pattern, text)
    return found


def numbers(pattern: str, text: str) -> tuple[int, ...]:
    return tuple(map(int, find(pattern, text).groups()))


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


def budget(text: str) -> list[object]:
    money, needed = numbers(r"has (\d+) dollars and needs (\d+)", text)
    prices = {shop: int(price) for price, shop in re.findall(r"(\d+) dollars at the (\w+)", text)}
    order = find(r"The (\w+) is the nearest, then comes the (\w+), and the (\w+) is the farthest", text).groups()
    return [needed, money, money // needed, next(shop for shop in order if prices[shop] * needed <= money)]


def counting(text: str) -> list[object]:
    things, what = find(r"(\d+) (\w+) have, and", text).groups()
    total = sum(PARTS[what] for _ in range(int(things)))
    return [int(things), PARTS[what], total, banded(text, total)]


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


def quality(text: str) -> list[object]:
    (needed,) = numbers(r"needs (\d+) ", text)
    offers = re.findall(r"The (\w+) ones (.*?) and cost (\d+) dollars each\.", text)
    ((colour, _, price),) = [offer for offer in offers if GOOD.search(offer[1])]
    return [None, needed, colour, needed * int(price)]


def pronoun(text: str) -> list[object]:
    owned = {name: int(number) for name, number in re.findall(r"(\w+) has (\d+) ", text)}
    pattern = r"(\w+) gives (\d+) \w+ to (\w+) because (he|she) (\w+ [^.]*|\w+)\."
    giver, given, getter, word, _ = find(pattern, text).groups()
    sex = dict.fromkeys(situations.MEN, "he") | dict.fromkeys(situations.WOMEN, "she")
    (child,) = [name for name in (giver, getter) if sex[name] == word]
    last = owned[child] + (int(given) if child == getter else -int(given))
    return [child, owned[child], int(given), last, banded(text, last)]


def kinds(text: str) -> list[object]:
    thing = find(r"takes the (\w+) from", text)[1]
    (kind,) = [kind for kind, members in MEMBERS.items() if thing in members.split()]
    (label,) = re.findall(rf"\b{kind}s?(?: instruments)? are kept in the (\w+) \w+", text)
    (minutes,) = numbers(rf"(\d+) minutes to the {label} ", text)
    return [thing, kind, label, minutes + minutes]


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


def duty(text: str) -> list[object]:
    things, each = numbers(r"has to \w+ (\d+) \w+, and each of them takes (\d+)", text)
    return [None, things, each, things * each, banded(text, things * each)]


SOLVERS: dict[str, Callable[[str], list[object]]] = {
    "budget": budget, "counting": counting, "trains": trains, "guide": guide, "implied-rule": implied_rule,
    "need": need, "implied-choice": implied_choice, "quality": quality, "pronoun": pronoun, "kinds": kinds,
    "order": order, "duty": duty,
}  # fmt: skip


def test_answers_follow_from_the_text() -> None:
    for chain in everything():
        solved = SOLVERS[family(chain)](chain.question)
        for step, answer in zip(chain.steps, solved, strict=True):
            if answer is None:
                assert step.task in ("Semantic Understanding", "Syntactic Understanding")
            else:
                assert step.answer == str(answer), (chain.question, step)
        assert chain.answer == str(solved[-1])


def test_asked_words_and_pronouns_stand_in_the_text() -> None:
    for chain in everything():
        for step in chain.steps:
            if step.task in ("Semantic Understanding", "Syntactic Understanding"):
                (word,) = re.findall(r'"(\w+)"', step.question)
                assert re.search(rf"\b{word}\b", chain.question, re.I), chain
            if step.task == "Semantic Understanding":
                assert not re.search(rf"\b{step.answer}\b", chain.question), chain
            if step.task == "Syntactic Understanding":
                # Once only, or it would not be clear which one is meant; names may have a second one in the question.
                told = chain.question.rsplit(". ", 1)[0]
                assert len(re.findall(rf"\b{word}\b", told)) == 1 or family(chain) == "kinds", chain
                for option in (step.answer, *step.distractors):
                    assert re.search(rf"\b{option}\b", chain.question), (chain, option)


def test_an_inferred_word_does_not_stand_in_the_clue() -> None:
    for chain in everything():
        if family(chain) in ("need", "implied-choice"):
            (inferred,) = [step.answer for step in chain.steps if step.task == "Inference"]
            clues = [*re.split(r"(?<=\.) ", chain.question)[:2]]
            hint = next(text for text in clues if any(words in text for words in IMPLIED))
            assert not re.search(rf"\b{inferred}\b", hint), chain


def test_steps_go_from_low_to_high() -> None:
    for chain in everything():
        tasks = [step.task for step in chain.steps]
        assert 3 <= len(tasks) <= 6
        assert len(set(tasks)) >= 3
        high = [task in HIGH for task in tasks]
        assert all(task in LOW + HIGH for task in tasks)
        assert high == sorted(high)
        assert True in high
        assert False in high


def test_steps_and_options_are_well_formed() -> None:
    for chain in everything():
        assert chain.question.endswith("?")
        assert 2 <= len(re.findall(r"[.?](?= |$)", chain.question)) <= 5, chain.question
        assert "  " not in chain.question
        assert not re.search(r"[{}]|\ba [aeiou]|\ban [^aeiou]|\b1 (hours|minutes|dollars)\b", chain.question), chain
        for step in chain.steps:
            assert step.question.endswith("?")
            assert 2 <= len(step.distractors) <= 3
            options = (step.answer, *step.distractors)
            assert len(set(options)) == len(options)
            assert all(1 <= len(option.split()) <= 3 for option in options)
            assert len({option.isdigit() for option in options}) == 1, step
            assert step.answer.lower() not in ("yes", "no")


def test_there_are_enough_chains_families_and_groups() -> None:
    groups = Counter(chain.group for chain in chains())
    assert len({chain.question for chain in chains()}) == SIZE
    assert len(groups) >= 40
    assert max(groups.values()) <= 0.05 * SIZE
    assert len({family(chain) for chain in chains()}) == len(SOLVERS) >= 10


@pytest.mark.parametrize("seed", SEEDS)
def test_all_functions_occur_and_no_answer_is_frequent(seed: int) -> None:
    for task in LOW + HIGH:
        assert sum(any(step.task == task for step in chain.steps) for chain in chains(seed)) >= 0.15 * SIZE, task
        answers = Counter(step.answer for chain in chains(seed) for step in chain.steps if step.task == task)
        assert answers.most_common(1)[0][1] <= 0.1 * answers.total(), (task, answers.most_common(1))


def test_the_place_of_an_option_does_not_give_the_answer_away() -> None:
    """Where all options of the last step stand in the text, the first and the last are right as often as chance."""
    first = last = chance = 0.0
    for chain in everything():
        step = chain.steps[-1]
        told = chain.question.rsplit(". ", 1)[0]
        options = [o for o in (step.answer, *step.distractors) if re.search(rf"\b{o}\b", told)]
        if step.task in ("Decision-making", "Logical Reasoning") and len(options) >= 3:
            options.sort(key=lambda o: find(rf"\b{o}\b", told).start())
            first, last = first + (options[0] == step.answer), last + (options[-1] == step.answer)
            chance += 1 / len(options)
    assert chance > 100
    assert abs(first - chance) < 0.25 * chance, (first, chance)
    assert abs(last - chance) < 0.25 * chance, (last, chance)


def test_no_fact_and_no_asked_word_stands_in_two_groups() -> None:
    homes: dict[tuple[str, str], set[str]] = {}
    for chain in everything():
        for step in chain.steps:
            if step.task in ("Knowledge Recall", "Semantic Understanding"):
                homes.setdefault((step.task, step.question), set()).add(chain.group)
                homes.setdefault((step.task, step.answer), set()).add(chain.group)
            if step.task == "Inference":
                homes.setdefault((step.task, step.answer), set()).add(chain.group)
    assert [key for key, groups in homes.items() if len(groups) > 1] == []


def test_the_same_arguments_give_the_same_bytes_and_another_seed_others() -> None:
    def written(seed: int, n: int) -> str:
        return to_jsonl(example for chain in generate(seed, n) for example in chain_examples(chain))

    assert written(3, 40) == written(3, 40)
    assert written(3, 40) != written(4, 40)
    assert [chain.question for chain in generate(3, 40)] == [chain.question for chain in generate(3, 80)[:40]]


def test_chains_become_examples_that_can_be_split() -> None:
    examples = [example for chain in chains() for example in chain_examples(chain)]
    suite = Suite("chains", tuple(examples))
    assert set(suite.tasks) == set(LOW + HIGH)
    assert len({example.id for example in examples}) == len(examples) >= 3 * SIZE
    assert all(example.prompt.endswith("Answer:") for example in examples)
    splits = suite.split()
    for example in splits["fit"].examples:
        assert example.group not in {other.group for other in splits["evaluate"].examples}


def test_more_can_be_asked_for() -> None:
    many = generate(5, 1000)
    assert len({chain.question for chain in many}) == len({chain.id for chain in many}) == 1000
