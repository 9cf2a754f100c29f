"""Every decision is made again from the text of its prompt, by rules written here and not in the generator."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from headatlas.suites.cognitive.decision_making import generate
from headatlas.suites.cognitive.decision_situations import AVOIDED, GOODS, NEEDS, TRAITS

SITUATIONS = {f"decision-making/{s.name}": s for s in (*NEEDS, *GOODS, *TRAITS, *AVOIDED)}
OPTIONS = {f"decision-making/{s.name}": tuple(option for _, option in s.served) for s in NEEDS}
OPTIONS |= {f"decision-making/{s.name}": s.options for s in (*GOODS, *TRAITS, *AVOIDED)}
EXAMPLES = [e for level in (1, 2, 3) for seed in (1, 2) for e in generate(seed, 120, level)]


def found(text: str, vocabulary: tuple[str, ...]) -> list[str]:
    """The words of the vocabulary in the text, in order."""
    return [word for word in re.findall(r"[a-z]+", text) if word in vocabulary]


def sentence(prompt: str, pattern: str) -> str:
    """The one sentence that matches."""
    (match,) = [s for s in re.split(r"(?<=[.?]) ", prompt) if re.search(pattern, s)]
    return match


def solve(prompt: str, group: str, template: str) -> str:
    return SOLVERS[template.removesuffix("-question")](prompt, group)


def solve_wish(prompt: str, group: str) -> str:
    """The first wish of the person asked about whose option is possible."""
    need = SITUATIONS[group]
    person = asked(prompt)
    wishes = " ".join(s for s in re.split(r"(?<=[.;]) ", prompt) if re.search(rf"\b{person} (?!can|and|should)", s))
    barred = re.findall(r"nobody can [\w ]+? the (\w+)\.", prompt)
    wishes = wishes.split(", not ")[0]
    at = {wishes.index(need.frame.format(w)): o for w, o in need.served if need.frame.format(w) in wishes}
    return next(at[i] for i in sorted(at) if at[i] not in barred)


def asked(prompt: str) -> str:
    """The person asked about: named before "should", or the only one with a wish."""
    match = re.search(r"(\w+) should [\w ]+$", prompt) or re.search(r"should (\w+) [\w ]+\? Answer:$", prompt)
    if match:
        return match[1]
    return re.search(r"\b([A-Z][a-z]+) (?:loves|likes|enjoys|feels|has|needs|wants|must|can)\b", prompt)[1]


def numbers(prompt: str, group: str) -> dict[str, int]:
    """What each option costs, takes, weighs or seats, without those that cannot be had."""
    options = OPTIONS[group]
    table = {o: int(n) for o, n in re.findall(r"\b[Tt]he (\w+) (?:[a-z]+ )?(\d+)\b", prompt) if o in options}
    gone = [o for s in re.split(r"(?<=\.) ", prompt) if "unavailable" in s for o in found(s, options)]
    return {o: n for o, n in table.items() if o not in gone}


def solve_extreme(prompt: str, group: str) -> str:
    table = numbers(prompt, group)
    return (max if re.search("most seats|last long", prompt) else min)(table, key=table.__getitem__)


def solve_limit(prompt: str, group: str) -> str:
    bound = re.search(r"(?:has|can walk|can lift|needs seats for|needs it for) (\d+)", prompt)
    at_least = "needs" in prompt
    (fits,) = [o for o, n in numbers(prompt, group).items() if (n >= int(bound[1])) == at_least]
    return fits


def solve_ranking(prompt: str, group: str) -> str:
    ranked = found(sentence(prompt, "(?i)best to worst|worst to best"), OPTIONS[group])
    there = found(re.search(r"[Oo]nly ([\w, ]+?) (?:are there|can be had)\.", prompt)[1], OPTIONS[group])
    if re.search("(?i)worst to best", prompt):
        ranked = ranked[::-1]
    return next(option for option in ranked if option in there)


def solve_trait(prompt: str, group: str) -> str:
    case = SITUATIONS[group]
    barred = re.findall(r"nobody can \w+ the (\w+)\.", prompt)
    person = asked(prompt)
    goals = re.findall(rf"{person} wants to (\w+ \w+)", prompt)
    for goal in goals:
        option = re.search(rf"[Tt]he (\w+) (?:is )?{dict(case.goals)[goal]}\b", prompt)[1]
        if option not in barred:
            return option
    raise AssertionError(prompt)


def solve_avoid(prompt: str, group: str) -> str:
    case = SITUATIONS[group]
    person = asked(prompt)
    refused = re.search(rf"{person} {case.rules_out} no ([\w, ]+)\.", prompt)[1]
    bad = [thing for kind, things in case.kinds if kind in re.findall(r"\w+", refused) for thing in things]
    held = re.findall(rf"\b[Tt]he (\w+) (?:{case.has} |of |about )?(\w+)", sentence(prompt, f"[Tt]he .* {case.has} "))
    (left,) = [option for option, thing in held if thing not in bad]
    return left


def solve_two_qualities(prompt: str, group: str) -> str:
    wanted, unwanted = re.search(rf"{asked(prompt)} wants (\w+), not (\w+)\.", prompt).groups()
    table = re.findall(r"\b[Tt]he (\w+) (?:is )?(\w+) and (\w+)", prompt)
    (left,) = [option for option, *has in table if wanted in has and unwanted not in has]
    return left


SOLVERS = {
    "wish": solve_wish, "wish-not": solve_wish, "extreme": solve_extreme, "limit": solve_limit, "trait": solve_trait,
    "ranking": solve_ranking, "avoid": solve_avoid, "two-qualities": solve_two_qualities,
}  # fmt: skip


@pytest.mark.parametrize("template", sorted({e.template for e in EXAMPLES}))
def test_decisions_follow_from_prompts(template: str) -> None:
    for e in (e for e in EXAMPLES if e.template == template):
        assert solve(e.prompt, e.group, e.template) == e.answer.strip(), e
        assert solve(e.counterfactual.prompt, e.group, e.template) == e.counterfactual.answer.strip(), e


def test_all_options_are_in_the_prompt() -> None:
    for e in EXAMPLES:
        assert {o.strip() for o in (e.answer, *e.distractors)} <= set(found(e.prompt, OPTIONS[e.group])), e


def test_a_twin_differs_in_few_words() -> None:
    for e in EXAMPLES:
        a, b = e.prompt.split(), e.counterfactual.prompt.split()
        assert len(a) == len(b), e
        assert sum(x != y for x, y in zip(a, b, strict=True)) <= 4, e


def test_no_option_stands_in_two_situations() -> None:
    counts = Counter(option for options in OPTIONS.values() for option in options)
    assert [option for option, count in counts.items() if count > 1] == []


def test_the_last_or_first_option_mentioned_does_not_answer() -> None:
    places: Counter[str] = Counter()
    examples = generate(3, 1200, 1)
    for e in examples:
        mentioned = found(e.prompt, tuple(o.strip() for o in (e.answer, *e.distractors)))
        places["last"] += mentioned[-1] == e.answer.strip()
        places["first"] += mentioned[0] == e.answer.strip()
    assert all(0.24 < places[place] / len(examples) < 0.41 for place in ("last", "first")), places
