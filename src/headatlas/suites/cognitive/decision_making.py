"""Decision-making: choose the option that best serves a stated wish, within stated limits.

The options and what is true of them are in the prompt in random order, but no sentence says which to choose: the wish
has to be applied to them. Unlike in logical reasoning, the answer is right only because somebody wants something.

Level 1 is easier because a wish that is told by its meaning comes last. A text is a function of what differs between
the prompt and its twin, so that everything else stays the same.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

from headatlas.suites.cognitive.decision_situations import AVOIDED, GOODS, NEEDS, THINGS, TRAITS, Goods
from headatlas.suites.cognitive.drafting import Draft, fill
from headatlas.suites.example import Example
from headatlas.suites.phrasing import capital, joined, shuffled

TASK = "Decision-making"

NAMES = (
    "Ben", "Ann", "Sam", "Mia", "Leo", "Eva", "Max", "Kim", "Tim", "Zoe", "Dan", "Joe", "Meg", "Nick", "Jane", "Bob",
)  # fmt: skip
QUALITIES = (("big", "small"), ("new", "old"), ("red", "blue"), ("black", "white"))


def wish(rng: random.Random, level: int, question: bool = False) -> Draft:
    """One option serves the wish. Level 2: somebody else has another wish; level 3: the first choice is barred."""
    need = rng.choice(NEEDS)
    served = rng.sample(need.served, min(len(need.served), 4))
    if level == 1 and question:
        served = served[:3]
    (want, right), (twin_want, twin), (third_want, third), *_ = rng.sample(served, len(served))
    ann, ben = rng.sample(NAMES, 2)
    listed = joined([f"the {option}" for _, option in served], "or")
    swap = level == 1 or rng.random() < 0.5

    def text(want: str) -> str:
        wants = f"{ann} {need.frame.format(want)}."
        parts = [wants, f"{ann} can {need.act} {listed}."]
        if level == 2:
            parts = [f"{wants} {ben} {need.frame.format(third_want)}.", f"They can {need.act} {listed}."]
        if level == 3:
            first = (
                f"First of all {ann} {need.frame.format(third_want)}; failing that, {ann} {need.frame.format(want)}."
            )
            blocked = f"Today nobody can {need.act} the {third}."
            parts = [first, f"{ann} and {ben} can {need.act} {listed}. {blocked}"]
        return _ordered(parts, swap)

    options = [right, twin, *(option for _, option in served if option not in (right, twin))]
    return _draft(rng, (text(want), text(twin_want)), ann, need.act, options, need.name, "wish", question)


def wish_not(rng: random.Random, level: int) -> Draft:
    """One thing is wanted and another is not; there is an option for each."""
    need = rng.choice(NEEDS)
    served = rng.sample(need.served, min(len(need.served), 2 + level))
    (want, right), (twin_want, twin), (third_want, _), *_ = rng.sample(served, len(served))
    ann, ben = rng.sample(NAMES, 2)
    listed = joined([f"the {option}" for _, option in served], "or")
    swap = level == 1 or rng.random() < 0.5

    def text(want: str, unwanted: str) -> str:
        parts = [f"{ann} {need.frame.format(want)}, not {unwanted}.", f"{ann} can {need.act} {listed}."]
        if level > 1:
            parts[0] += f" {ben} {need.frame.format(third_want)}."
        if level == 3:
            parts[1] = f"{ann} and {ben} can {need.act} {listed}, and they do not have to choose the same."
        return _ordered(parts, swap)

    options = [right, twin, *(option for _, option in served if option not in (right, twin))]
    texts = text(want, twin_want), text(twin_want, want)
    return _draft(rng, texts, ann, need.act, options, need.name, "wish-not")


def extreme(rng: random.Random, level: int) -> Draft:
    """The smallest or largest number is best; from level 2 on some options are not available."""
    goods = rng.choice(GOODS)
    size = 2 + level
    numbers = rng.sample(range(2, 10) if level == 1 else range(3, 40), size)
    gone = rng.sample(range(size), level - 1)
    left = [i for i in range(size) if i not in gone]
    right = (min if goods.measure.least else max)(left, key=numbers.__getitem__)
    return _numbered(rng, goods, numbers, goods.measure.wish, right, gone, "extreme", twins=left)


def limit(rng: random.Random, level: int, question: bool = False) -> Draft:
    """One option is within the limit; from level 2 on others are too, but they are not available."""
    goods = rng.choice(GOODS)
    size = 2 + level
    right, *gone = rng.sample(range(size), level)
    bound = rng.randrange(8, 13)
    below, above = range(2, bound), range(bound + 1, bound + 8)
    inside, outside = (below, above) if goods.measure.least else (above, below)
    good, bad = rng.sample(inside, size), rng.sample(outside, size)
    numbers = [good[i] if i in (right, *gone) else bad[i] for i in range(size)]
    twins = [i for i in range(size) if i not in gone]
    wanted = goods.measure.limit.format(bound)
    return _numbered(rng, goods, numbers, wanted, right, gone, "limit", twins, question)


def _numbered(
    rng: random.Random,
    goods: Goods,
    numbers: list[int],
    wanted: str,
    right: int,
    gone: Sequence[int],
    template: str,
    twins: Sequence[int],
    question: bool = False,
) -> Draft:
    """Options with a number each. In the twin, the answer exchanges its number with another of `twins`."""
    options = rng.sample(goods.options, len(numbers))
    twin = rng.choice([i for i in twins if i != right])
    ann = rng.choice(NAMES)
    swap = rng.random() < 0.5
    verb, unit = goods.measure.verb, goods.measure.unit

    def text(numbers: Sequence[int]) -> str:
        clauses = [f"the {option} {number}" for option, number in zip(options, numbers, strict=True)]
        clauses[0] = f"the {options[0]} {verb} {numbers[0]} {unit}"
        if len(options) == 5:  # the hardest level spells all of it out
            clauses = [f"the {option} {verb} {number} {unit}" for option, number in zip(options, numbers, strict=True)]
        facts = f"{capital(joined(clauses, 'and'))}."
        if gone:
            are = "is" if len(gone) == 1 else "are"
            facts += f" {capital(joined([f'the {options[i]}' for i in gone], 'and'))} {are} unavailable."
        return _ordered([f"{ann} {wanted}.", facts], swap)

    swapped = list(numbers)
    swapped[right], swapped[twin] = numbers[twin], numbers[right]
    ranked = [options[right], options[twin], *(o for i, o in enumerate(options) if i not in (right, twin))]
    return _draft(rng, (text(numbers), text(swapped)), ann, goods.act, ranked, goods.name, template, question)


def ranking(rng: random.Random, level: int, question: bool = False) -> Draft:
    """The best-liked option of those that are available; told from the best down or from the worst up."""
    goods = rng.choice(GOODS)
    size = 2 + level
    liked = rng.sample(goods.options, size)  # best first
    # The answer is the best or the second best; the twin makes the other one right.
    right, twin = shuffled(rng, liked[:2])
    others = rng.sample(liked[2:], max(1, level - 1))
    ann = rng.choice(NAMES)
    downwards = rng.random() < 0.5
    way = "best to worst" if downwards else "worst to best"
    told = ", ".join(liked if downwards else liked[::-1])
    likes = f"{capital(way)} for {ann}: {told}."
    if level == 3:
        likes = f"These are the choices that {ann} has thought about, from {way}: {told}."
    elif not question:
        likes = f"{ann}'s choices from {way} are {told}."
    place = rng.randrange(len(others) + 1)

    def text(free: str) -> str:
        there = joined([*others[:place], free, *others[place:]], "and")
        if level == 1:
            return f"{likes} Only {there} are there."
        gone = [o for o in sorted(liked) if o not in (free, *others)]
        return f"{likes} Today there is no {joined(gone, 'or')}, and only {there} can be had."

    rest = [o for o in liked if o not in (right, twin)]
    return _draft(rng, (text(right), text(twin)), ann, goods.act, [right, twin, *rest], goods.name, "ranking", question)


def trait(rng: random.Random, level: int, question: bool = False) -> Draft:
    """A goal calls for a trait, and one option has it. From level 2 on, others have other goals."""
    traits = rng.choice(TRAITS)
    size = min(2 + level, len(traits.goals))
    pairs = rng.sample(traits.goals, size)
    options = rng.sample(traits.options, size)
    right, twin, third = rng.sample(range(size), 3)
    ann, ben = rng.sample(NAMES, 2)
    swap = level == 1 or rng.random() < 0.5
    clauses = [f"the {option} {have}" for option, (_, have) in zip(options, pairs, strict=True)]
    clauses[0] = f"the {options[0]} is {pairs[0][1]}"
    facts = f"{capital(joined(clauses, 'and'))}."

    def text(goal: str) -> str:
        wanted = f"{ann} wants to {goal}."
        if level > 1:
            wanted += f" {ben} wants to {pairs[third][0]}."
        if level == 3:
            wanted = (
                f"Above all {ann} wants to {pairs[third][0]}, and next to that {ann} wants to {goal}. "
                f"But today nobody can {traits.act} the {options[third]}."
            )
        return _ordered([wanted, facts], swap)

    ranked = [options[right], options[twin], *(o for i, o in enumerate(options) if i not in (right, twin))]
    texts = text(pairs[right][0]), text(pairs[twin][0])
    return _draft(rng, texts, ann, traits.act, ranked, traits.name, "trait", question)


def avoid(rng: random.Random, level: int) -> Draft:
    """All kinds but one are ruled out; one option is of the kind that is left."""
    case = rng.choice(AVOIDED)
    size = min(2 + level, len(case.kinds))
    kinds = rng.sample(case.kinds, size)
    options = rng.sample(case.options, size)
    right, twin, *rest = rng.sample(range(size), size)
    ann, ben = rng.sample(NAMES, 2)
    swap = level == 1 or rng.random() < 0.5
    held = [rng.choice(things) for _, things in kinds]
    # "is made of" leaves "of" behind when the verb is not repeated.
    kept = f"{case.has.split()[-1]} " if " " in case.has else ""
    parts = [f"the {option} {kept}{thing}" for option, thing in zip(options, held, strict=True)]
    parts[0] = f"the {options[0]} {case.has} {held[0]}"
    facts = f"{capital(joined(parts, 'and'))}."
    place = rng.randrange(len(rest) + 1)

    def text(ruled_out: int) -> str:
        names = [kinds[i][0] for i in [*rest[:place], ruled_out, *rest[place:]]]
        wanted = f"{ann} {case.rules_out} no {joined(names, 'or')}."
        if level == 3:
            wanted += f" {ben} {case.rules_out} no {kinds[right][0]}, and will {case.act} something else than {ann}."
        return _ordered([wanted, facts], swap)

    ranked = [options[i] for i in (right, twin, *rest)]
    return _draft(rng, (text(twin), text(right)), ann, case.act, ranked, case.name, "avoid")


def two_qualities(rng: random.Random, level: int) -> Draft:
    """One quality is wanted and another is not; each option is good in one respect or the other."""
    goods = rng.choice(THINGS)
    (a, b), (x, y) = rng.sample(QUALITIES, 2)
    combinations = shuffled(rng, list(product((a, b), (x, y))))
    # At level 1 the combination that is left out is neither the answer nor the twin's.
    wanted = rng.choice((a, b))
    kept = [c for c in combinations if c[0] == wanted]
    others = [c for c in combinations if c[0] != wanted]
    shown = shuffled(rng, kept + (others[:1] if level == 1 else others))
    options = rng.sample(goods.options, len(shown))
    by_quality = dict(zip(shown, options, strict=True))
    right, twin = rng.sample(kept, 2)
    ann, ben = rng.sample(NAMES, 2)
    swap = rng.random() < 0.5
    clauses = [f"the {option} {first} and {second}" for (first, second), option in by_quality.items()]
    clauses[0] = clauses[0].replace(f"the {options[0]}", f"the {options[0]} is", 1)
    facts = f"{capital(', '.join(clauses))}."

    def text(unwanted: str) -> str:
        wants = f"{ann} wants {wanted}, not {unwanted}."
        if level > 1:
            wants += f" {ben} wants {others[0][0]}, not {others[0][1]}."
        if level == 3:
            wants += f" Both of them have enough money, and {ben} will not {goods.act} the same as {ann}."
        return _ordered([wants, facts], swap)

    ranked = [by_quality[right], by_quality[twin], *(o for c, o in by_quality.items() if c not in (right, twin))]
    return _draft(rng, (text(twin[1]), text(right[1])), ann, goods.act, ranked, goods.name, "two-qualities")


def wish_question(rng: random.Random, level: int) -> Draft:
    """`wish` as a question."""
    return wish(rng, level, question=True)


def limit_question(rng: random.Random, level: int) -> Draft:
    """`limit` as a question."""
    return limit(rng, level, question=True)


def ranking_question(rng: random.Random, level: int) -> Draft:
    """`ranking` as a question."""
    return ranking(rng, level, question=True)


def trait_question(rng: random.Random, level: int) -> Draft:
    """`trait` as a question."""
    return trait(rng, level, question=True)


MAKERS = (
    wish, limit_question, trait, ranking, wish_question, extreme, avoid, trait_question, limit, wish_not, two_qualities,
    ranking_question,
)  # fmt: skip


def generate(seed: int, n: int, level: int) -> list[Example]:
    return fill(TASK, MAKERS, seed, n, level)


def _draft(
    rng: random.Random,
    texts: tuple[str, str],
    name: str,
    act: str,
    options: Sequence[str],
    group: str,
    template: str,
    question: bool = False,
) -> Draft:
    """A draft from the texts of prompt and twin. The first of `options` is right, the second is the twin's answer."""
    if question:
        # Where every option has its own clause, level 1 has room only for a short question.
        asked = "Which is best?" if len(options) == 3 and template != "wish" else _question(name, act)
        prompt, twin_prompt = (f"Question: {text} {asked} Answer:" for text in texts)
    else:
        prompt, twin_prompt = (f"{text} {name} should {act} the" for text in texts)
    wrong = shuffled(rng, [options[1], *rng.sample(options[2:], min(2, len(options) - 2))])
    return Draft(
        prompt=prompt,
        answer=f" {options[0]}",
        distractors=tuple(f" {option}" for option in wrong),
        twin_prompt=twin_prompt,
        twin_answer=f" {options[1]}",
        group=f"decision-making/{group}",
        template=f"{template}-question" if question else template,
    )


def _question(name: str, act: str) -> str:
    if act.endswith(" to"):
        return f"Where should {name} {act.removesuffix(' to')}?"
    return f"{'Whom' if act in ('call', 'hire') else 'What'} should {name} {act}?"


def _ordered(parts: Sequence[str], swap: bool) -> str:
    return " ".join(parts[::-1] if swap else parts)
