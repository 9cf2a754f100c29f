"""Every conclusion is drawn again from the text of its prompt, by rules written here and not in the generator."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from headatlas.suites.cognitive.drafting import LEAD_INS
from headatlas.suites.cognitive.logical_reasoning import generate
from headatlas.suites.cognitive.logical_words import CHOICE_WORLDS, NAME_SETS, ROLE_WORLDS

WORLDS = {f"logical-reasoning/{world.name}": world for world in (*ROLE_WORLDS, *CHOICE_WORLDS)}
EXAMPLES = [e for level in (1, 2, 3) for seed in (1, 2) for e in generate(seed, 120, level)]


def words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]+", text)


def places_of(prompt: str, option: str) -> list[int]:
    """Where an option stands; roles also stand in the plural and at the head of a sentence."""
    return [m.start() for m in re.finditer(rf"\b{option.strip()}s?\b", prompt, re.IGNORECASE)]


def found(text: str, vocabulary: tuple[str, ...], suffix: str = "") -> list[str]:
    """The words of the vocabulary in the text, in order."""
    return [
        w.removesuffix(suffix) for w in words(text.lower() if suffix else text) if w.removesuffix(suffix) in vocabulary
    ]


def asked_person(prompt: str) -> str:
    if prompt.endswith("Answer:"):
        match = re.search(r"(?:does) (\w+) [\w ]+\? Answer:$", prompt)
    else:
        match = re.search(r"So (\w+) [\w ]+$", prompt)
    assert match, prompt
    return match[1]


def rule_table(prompt: str, group: str) -> dict[str, str]:
    """Role to option, read from the one sentence that has at least three roles."""
    world = WORLDS[group]
    for sentence in prompt.split(". "):
        roles, options = found(sentence, world.roles, "s"), found(sentence, world.options)
        if len(roles) >= 3:
            return dict(zip(roles, options, strict=True))
    raise AssertionError(prompt)


def solve(prompt: str, group: str, template: str) -> str:
    kind = template.removesuffix("-question")
    if kind == "order":
        return solve_order(prompt)
    if kind == "suspects":
        return solve_suspects(prompt)
    world = WORLDS[group]
    lead_in = max((lead for lead in LEAD_INS if prompt.startswith(lead)), key=len)
    body = prompt[len(lead_in) :].strip().removeprefix("Question: ")
    sentences = re.split(r"(?<=[.?]) ", body)
    if kind == "elimination":
        return solve_elimination(body, sentences, world.options)
    if kind == "ponens":
        return solve_ponens(sentences, world.options)
    person = asked_person(prompt)
    if kind == "copying":
        copies = dict(re.findall(r"(\w+) copies (\w+)\.", body))
        deeds = next(s for s in sentences if len(found(s, world.options)) >= 3)
        while person in copies:
            person = copies[person]
        return found(deeds[re.search(rf"\b{person}\b", deeds).start() :], world.options)[0]
    table = rule_table(body, group)
    if kind == "tollens":
        facts = next(s for s in sentences if s.startswith(f"{person}, one of them"))
        (left,) = [role for role, option in table.items() if option not in found(facts, world.options)]
        return left
    source = re.search(rf"Whatever (\w+) (?:is|does), {person} ", body)
    holder = source[1] if source else person
    fact = next(s for s in sentences if s.startswith(f"{holder} "))
    if kind == "universal":
        return table[found(fact, world.roles)[0]]
    return {option: role for role, option in table.items()}[found(fact, world.options)[0]]


def solve_ponens(sentences: list[str], options: tuple[str, ...]) -> str:
    fact = next(s for s in sentences if not found(s, options) and " if " not in s and not re.match("What|Where|So", s))
    rules = " ".join(s for s in sentences if re.search(r"\b[iI]f\b", s))
    cause = fact.rstrip(".").lower()
    shown = re.search(rf"(\w+) if {cause}\b", rules.split(" if it shows ")[0]) if " if it shows " in rules else None
    if shown:
        cause = f"it shows {shown[1]}"
    before = re.search(rf"(\w+) if {cause}\b", rules)
    after = re.search(rf"If {cause}, [\w ]*?\b(\w+)\.", rules)
    match = before or after
    assert match, sentences
    return match[1]


def solve_elimination(body: str, sentences: list[str], options: tuple[str, ...]) -> str:
    possible = found(sentences[0], options)
    if " can " in sentences[0]:
        denied = {o for s in sentences[1:] if re.match("Not |It is not ", s) for o in found(s, options)}
    else:
        person = asked_person(body)
        unlike = "no two of them" in body
        denied = set()
        for sentence in sentences[1:-1]:
            mine = sentence.startswith(f"{person} ")
            if mine == ("does not" in sentence) and (mine or unlike):
                denied.update(found(sentence, options))
    (left,) = [o for o in possible if o not in denied]
    return left


def solve_order(prompt: str) -> str:
    """The one whom nobody beats on the scale asked about."""
    opposite = {"taller": "shorter", "older": "younger", "faster": "slower", "richer": "poorer", "stronger": "weaker",
                "heavier": "lighter"}  # fmt: skip
    opposite |= {v: k for k, v in opposite.items()}
    asked = re.search(r"(\w+)est(?: is|\? Answer:)$", prompt)
    assert asked
    more = next(word for word in opposite if word.removesuffix("er") == asked[1])
    beats = {(a, b) for a, m, b in re.findall(r"(\w+) is (\w+) than (\w+)\.", prompt) if m == more}
    beats |= {(b, a) for a, m, b in re.findall(r"(\w+) is (\w+) than (\w+)\.", prompt) if m == opposite[more]}
    people = {name for pair in beats for name in pair}
    (top,) = people - {b for _, b in beats}
    return top


def solve_suspects(prompt: str) -> str:
    listed = re.search(r"The \w+ is ([A-Z][\w, ]+)\.", prompt)
    assert listed
    possible = [w for w in words(listed[1]) if w != "or"]
    mark = re.search(r"Every \w+ has a (\w+)\.", prompt)
    denied = re.findall(rf"(\w+) has no {mark[1]}\." if mark else r"It is not (\w+)\.", prompt)
    (left,) = [name for name in possible if name not in denied]
    return left


@pytest.mark.parametrize("template", sorted({e.template for e in EXAMPLES}))
def test_answers_follow_from_prompts(template: str) -> None:
    for e in (e for e in EXAMPLES if e.template == template):
        assert solve(e.prompt, e.group, e.template) == e.answer.strip(), e
        assert solve(e.counterfactual.prompt, e.group, e.template) == e.counterfactual.answer.strip(), e


def test_options_are_mentioned_equally_often_at_level_1() -> None:
    for e in (e for e in EXAMPLES if e.level == 1):
        counts = {len(places_of(e.prompt, option)) for option in (e.answer, *e.distractors)}
        assert len(counts) == 1, e
        assert counts != {0}, e


def test_twin_changes_one_premise() -> None:
    for e in EXAMPLES:
        a, b = words(e.prompt), words(e.counterfactual.prompt)
        sentences = zip(e.prompt.split(". "), e.counterfactual.prompt.split(". "), strict=True)
        changed = sum(x != y for x, y in sentences)
        assert changed == (2 if e.template.startswith("order") else 1), e
        assert abs(len(a) - len(b)) <= 2, e


def test_no_word_stands_in_two_groups() -> None:
    answers = [w for world in WORLDS.values() for w in (*world.options, *world.roles)]
    counts = Counter([*answers, *(n for names in NAME_SETS for n in names)])
    assert [word for word, count in counts.items() if count > 1] == []


def test_the_last_or_first_option_mentioned_does_not_answer() -> None:
    examples = generate(3, 1200, 1)
    places: Counter[str] = Counter()
    for e in examples:
        order = sorted((e.answer, *e.distractors), key=lambda o: places_of(e.prompt, o)[-1])
        places["last"] += order[-1] == e.answer
        order = sorted((e.answer, *e.distractors), key=lambda o: places_of(e.prompt, o)[0])
        places["first"] += order[0] == e.answer
    assert all(0.26 < places[place] / len(examples) < 0.41 for place in ("last", "first")), places
