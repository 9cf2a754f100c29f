"""Every answer is looked up again in the text of the prompt alone."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest

from headatlas.suites.cognitive.retrieval import generate
from headatlas.suites.cognitive.retrieval_words import (
    COLOURS,
    DEEDS,
    LOCKS,
    NAMES,
    NATIONS,
    PLACES,
    QUALITIES,
    ROOMS,
    SEASONS,
    THINGS,
    TRAITS,
)
from headatlas.suites.example import Example

LEVELS = (1, 2, 3)
WHEN = r"((?: today| tomorrow| (?:in|at|on) (?:May|June|noon|night|Monday|Friday|spring|autumn))?)"
APART = "|".join((*COLOURS, *NATIONS, *PLACES, *SEASONS, *QUALITIES))
ITEM = rf"\bthe ((?:big |small |old |new )?(?:{APART})) (?P<value>\w+)"
HAS = r"(?:has|needs|wants|gets)"
TAKEN = r"\w+ (?:buys|takes|gets|wants|likes) the ([\w ]+)$"
WHICH = r"Question: Which is [\w ]+\? Answer: the ([\w ]+)$"
TRAIT = "|".join(phrase for phrase, _ in TRAITS)

# A fact and a question for each template; what is caught besides the value is the key.
PATTERNS = {
    **dict.fromkeys(("colour", "nation", "place", "season", "quality"), (ITEM, TAKEN)),
    **dict.fromkeys(("ask-colour", "ask-nation", "ask-quality"), (ITEM, WHICH)),
    "thing-of-owner": (rf"(\w+) has the (?P<value>\w+){WHEN}\.", rf"(\w+) has(?: the)?{WHEN}(?: is the)?$"),
    "owner-of-thing": (rf"(?P<value>\w+) {HAS} the (\w+){WHEN}\.", rf"The person who \w+ the (\w+){WHEN} is$"),
    "ask-thing": (rf"(\w+) has the (?P<value>\w+){WHEN}\.", rf"What does (\w+) have{WHEN}\? Answer: \1 has the$"),
    "ask-room": (rf"The (\w+) is in the (?P<value>\w+){WHEN}\.", rf"Question: Where is the (\w+){WHEN}\? Answer:$"),
    "code-word": (rf"The (\w+) code{WHEN} is (?P<value>\w+)\.", rf"The (\w+) code{WHEN} is$"),
    "deed": (rf"(\w+) ({'|'.join(DEEDS)}) the (?P<value>\w+)\.", r"The thing that (\w+) (\w+) was the$"),
    "trait": (rf"(\w+(?:'s \w+)?) (?:{TRAIT}) (?P<value>\w+)\.", rf"([A-Z]\w+(?:'s \w+)?) (?:{TRAIT})$"),
}  # fmt: skip


@cache
def examples(level: int) -> list[Example]:
    return [example for seed in (0, 7, 1234) for example in generate(seed, 96, level)]


def facts(prompt: str, template: str) -> dict[tuple[str, ...], str]:
    """What the prompt binds to each key, in the order of the prompt."""
    found = {}
    for match in re.finditer(PATTERNS[template][0], prompt):
        where = match.re.groupindex["value"] - 1
        key = tuple(text for i, text in enumerate(match.groups()) if i != where)
        assert key not in found, prompt
        found[key] = match["value"]
    return found


def look_up(prompt: str, template: str) -> str:
    return " " + facts(prompt, template)[re.search(PATTERNS[template][1], prompt).groups()]


@pytest.mark.parametrize("level", LEVELS)
def test_answers_are_what_the_prompts_say(level: int) -> None:
    for e in examples(level):
        assert look_up(e.prompt, e.template) == e.answer, e.prompt
        assert look_up(e.counterfactual.prompt, e.template) == e.counterfactual.answer, e.counterfactual.prompt


@pytest.mark.parametrize("level", LEVELS)
def test_options_are_values_of_other_keys(level: int) -> None:
    for e in examples(level):
        values = list(facts(e.prompt, e.template).values())
        assert len(set(values)) == len(values) >= 3 + (level > 1) + 2 * (level > 2)
        assert len(e.distractors) == min(3, len(values) - 1)
        assert {text.strip() for text in (e.answer, *e.distractors)} <= set(values)
        assert e.counterfactual.answer in e.distractors


def test_half_a_key_is_not_enough_at_level_3() -> None:
    for e in examples(3):
        asked = re.search(PATTERNS[e.template][1], e.prompt).groups()
        keys = [" ".join(key).split() for key in facts(e.prompt, e.template)]
        for word in " ".join(asked).split():
            assert sum(word in key for key in keys) > 1, (e.prompt, word)


@pytest.mark.parametrize("level", LEVELS)
def test_twins_change_the_asked_key_or_swap_two_values(level: int) -> None:
    kinds = Counter()
    for e in examples(level):
        before, after = facts(e.prompt, e.template), facts(e.counterfactual.prompt, e.template)
        assert list(before) == list(after)
        assert sorted(before.values()) == sorted(after.values())
        kinds[sum(before[key] != after[key] for key in before)] += 1
    assert set(kinds) == {0, 2}
    assert min(kinds.values()) > 0.4 * kinds.total()


@pytest.mark.parametrize("level", LEVELS)
def test_the_place_of_a_fact_does_not_give_the_answer_away(level: int) -> None:
    shares = Counter()
    for e in examples(level):
        options = {text.strip() for text in (e.answer, *e.distractors)}
        ordered = [text for text in facts(e.prompt, e.template).values() if text in options]
        shares["first"] += ordered[0] == e.answer.strip()
        shares["last"] += ordered[-1] == e.answer.strip()
        shares["chance"] += 1 / len(ordered)
    assert abs(shares["first"] - shares["chance"]) < 0.06 * len(examples(level)), shares
    assert abs(shares["last"] - shares["chance"]) < 0.06 * len(examples(level)), shares


@pytest.mark.parametrize("level", LEVELS)
def test_a_group_holds_the_words_of_one_set(level: int) -> None:
    for e in examples(level):
        kind, index = e.group.removeprefix("retrieval/").split("-")
        words = set(THINGS[int(index)] if kind == "things" else TRAITS[int(index)][1])
        found = facts(e.prompt, e.template)
        used = {key[0] for key in found} if e.template in ("owner-of-thing", "ask-room") else set(found.values())
        assert used <= words, (e.prompt, e.group)


def test_no_word_stands_in_two_sets() -> None:
    sets = [*THINGS, *(values for _, values in TRAITS), NAMES, ROOMS, LOCKS, DEEDS]
    sets += [COLOURS, NATIONS, PLACES, SEASONS, QUALITIES]
    counts = Counter(word for words in sets for word in words)
    assert [word for word, count in counts.items() if count > 1] == []
