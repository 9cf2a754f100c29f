"""Logical reasoning: the answer follows from the premises by a rule of inference.

Every option is mentioned as often as the answer, in random order, so that neither recency nor mere mention gives the
answer. The rules are arbitrary, so that knowledge does not give it, and no premise states the conclusion, so that it
cannot be looked up either.

A text is written with a gap, `@`, in the premise that differs between the prompt and its twin.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from headatlas.suites.cognitive.drafting import Draft, fill
from headatlas.suites.cognitive.logical_words import (
    CHOICE_WORLDS,
    NAME_SETS,
    OCCASIONS,
    PEOPLE,
    ROLE_WORLDS,
    SCALES,
    SIGNS,
    World,
)
from headatlas.suites.example import Example
from headatlas.suites.phrasing import joined, shuffled

TASK = "Logical Reasoning"


def universal(rng: random.Random, level: int, question: bool = False) -> Draft:
    """All A do X; Ben is an A; so Ben does X. Level 3 adds: whatever Ann is, Ben is too."""
    world = rng.choice(ROLE_WORLDS)
    size = 2 + level
    roles, options = rng.sample(world.roles, size), rng.sample(world.options, size)
    ben, ann, *others = rng.sample(PEOPLE, 4)
    every = "" if level == 1 else "all "
    rules = (_rules if level == 3 else _gapped)([f"{every}{role}s" for role in roles], world.they_do, options)
    facts = [f"{ben} is a @."] if level < 3 else [f"{ann} is a @.", f"Whatever {ann} is, {ben} is too."]
    facts += [f"{name} is a {rng.choice(roles)}." for name in others[: level - 1]]
    text = _asked(shuffled(rng, [rules, " ".join(shuffled(rng, facts))]), world, ben, question)
    return _draft(rng, text, roles, options, world.name, "universal", question)


def ponens(rng: random.Random, level: int, question: bool = False) -> Draft:
    """If P, Ben does X; P; so Ben does X. Level 3 has two such rules in a row."""
    world = rng.choice(CHOICE_WORLDS)
    size = (3, 4, 4)[level - 1]
    options, occasions, signs = (
        rng.sample(world.options, size),
        rng.sample(OCCASIONS[: 6 if level == 1 else None], size),
        rng.sample(SIGNS, size),
    )
    ben = rng.choice(PEOPLE)
    does, article = _split(world.one_does)
    pairs = list(zip(options, occasions, strict=True))
    if level == 3:
        shown = joined([f"{sign} if {occasion}" for sign, occasion in zip(signs, occasions, strict=True)], "and")
        steps = shuffled(rng, list(zip(options, signs, strict=True)))
        done = joined([f"{article}{option} if it shows {sign}" for option, sign in steps], "and")
        rules = f"The sign shows {shown}. {ben} {does} {done}."
    elif level == 1 or rng.random() < 0.5:
        rules = f"{ben} {does} {joined([f'{article}{option} if {occasion}' for option, occasion in pairs], 'and')}."
    else:
        rules = " ".join(f"If {occasion}, {ben} {world.one_does} {option}." for option, occasion in pairs)
    premises = shuffled(rng, [rules, "@."])
    text = _asked(premises, world, ben, question)
    if level == 1 and question:
        text = f"Question: {' '.join(premises)} What now? Answer:"
    facts = [occasion[0].upper() + occasion[1:] for occasion in occasions]
    return _draft(rng, text, facts, options, world.name, "ponens", question)


def elimination(rng: random.Random, level: int, question: bool = False) -> Draft:
    """Ann does X, Y or Z, but neither X nor Y; so Z. At level 3 some are ruled out because others have them."""
    world = rng.choice(CHOICE_WORLDS)
    size = 2 + level
    listed = rng.sample(world.options, size)
    right, twin, *rest = rng.sample(listed, size)
    ann, ben, *others = rng.sample(PEOPLE, 4)
    do, article = _split(world.they_do)
    taken = rest[1:] if level == 3 else []
    denied = shuffled(rng, ["@", *(option for option in rest if option not in taken)])
    premises = [f"{name} {world.one_does} {option}." for name, option in zip(others, taken, strict=False)]
    premises = shuffled(rng, [*premises, f"{ann} does not {do} {article}{joined(denied, 'or')}."])
    mention = f"{ben} does not {do} {article}{right}."
    if level == 1:
        premises = (
            [f"Not {article}{option}." for option in denied]
            if question
            else [f"It is not {article}{option}." for option in denied]
        )
        mention = f"{ben} {rng.choice(('mentions', 'thinks of'))} {article}{right}."
    # The answer is brought up in a premise that does not matter, so that it is mentioned as often as the rest. That
    # premise comes last only as often as by chance, so that the last option mentioned is no clue.
    premises.insert(len(premises) if rng.random() < 1 / size else rng.randrange(len(premises)), mention)
    people = [[ann], [ann, ben], [ann, ben, *others]][level - 1]
    unlike = ", and no two of them choose the same" if level == 3 else ""
    may = "can" if level == 1 else "each"
    head = f"{joined(shuffled(rng, people), 'and')} {may} {do} {article}{joined(listed, 'or')}{unlike}."
    text = _asked([head, *premises], world, ann, question)
    if level == 1:
        text = " ".join([head, *premises])
        text = f"Question: {text} What is it? Answer:" if question else f"{text} So it is {article}".rstrip()
    return _draft(rng, text, (twin, right), (right, twin, *rest), world.name, "elimination", question)


def suspects(rng: random.Random, level: int) -> Draft:
    """The thief is A, B or C; not A, not B; so C. From level 2 on: the thief has something, and A and B do not."""
    number = rng.randrange(len(NAME_SETS))
    size = 2 + level
    listed = rng.sample(NAME_SETS[number], size)
    right, twin, *rest = rng.sample(listed, size)
    one = rng.choice(("thief", "winner", "leader", "owner"))
    mark, other = rng.sample(("beard", "coat", "hat", "ring", "bag", "watch"), 2)
    denied = shuffled(rng, ["@", *rest])
    premises = [f"It is not {name}." for name in denied]
    mention = f"{rng.choice(PEOPLE)} {rng.choice(('mentions', 'thinks of'))} {right}."
    if level > 1:
        premises = [f"{name} has no {mark}." for name in denied]
        mention = f"{right} has no {other}."
    premises.insert(len(premises) if rng.random() < 1 / size else rng.randrange(len(premises)), mention)
    known = f" Every {one} has a {mark}." if level > 1 else ""
    text = f"The {one} is {joined(listed, 'or')}.{known} {' '.join(premises)} So the {one} must be"
    return _draft(rng, text, (twin, right), (right, twin, *rest), f"names-{number}", "suspects")


def only(rng: random.Random, level: int) -> Draft:
    """Only A do X; Ben does X; so Ben is an A. Level 3 adds: whatever Ann does, Ben does too."""
    world = rng.choice(ROLE_WORLDS)
    size = 2 + level
    roles, options = rng.sample(world.roles, size), rng.sample(world.options, size)
    ben, ann, *others = rng.sample(PEOPLE, 4)
    rules = (_rules if level == 3 else _gapped)([f"only {role}s" for role in roles], world.they_do, options)
    facts = [f"{ben} {world.one_does} @."]
    if level == 3:
        facts = [f"{ann} {world.one_does} @.", f"Whatever {ann} does, {ben} does too."]
    facts += [f"{name} {world.one_does} {rng.choice(options)}." for name in others[: level - 1]]
    text = shuffled(rng, [rules, " ".join(shuffled(rng, facts))])
    return _draft(rng, " ".join([*text, f"So {ben} is a"]), options, roles, world.name, "only")


def tollens(rng: random.Random, level: int) -> Draft:
    """All A do X; Ben does not do X; so Ben is no A: one role is left."""
    world = rng.choice(ROLE_WORLDS)
    size = 2 + level
    pairs = list(zip(rng.sample(world.roles, size), rng.sample(world.options, size), strict=True))
    (right, right_does), (twin, twin_does), *rest = rng.sample(pairs, size)
    ben, ann = rng.sample(PEOPLE, 2)
    do, article = _split(world.they_do)
    every = "" if level == 1 else "all "
    listed = [f"{every}{role}s" for role, _ in pairs], world.they_do, [option for _, option in pairs]
    rules = _rules(*listed) if level == 3 else _gapped(*listed)
    denied = shuffled(rng, ["@", *(option for _, option in rest)])
    facts = [f"{ben}, one of them, does not {do} {article}{joined(denied, 'or')}."]
    if level == 3:
        others = [option for _, option in rng.sample(pairs, 2)]
        facts.append(f"{ann}, one of them, does not {do} {article}{joined(others, 'or')}.")
    text = " ".join([rules, *shuffled(rng, facts), f"So {ben} is a"])
    roles = (right, twin, *(role for role, _ in rest))
    return _draft(rng, text, (twin_does, right_does), roles, world.name, "tollens")


def order(rng: random.Random, level: int, question: bool = False) -> Draft:
    """A is taller than B, B is taller than C; so the tallest is A. Level 3 adds a second, useless scale."""
    number = rng.randrange(len(NAME_SETS))
    chain = rng.sample(NAME_SETS[number], 2 + level)  # tallest first
    (more, most, less, least), useless = rng.sample(SCALES, 2)
    upwards = rng.random() < 0.5
    # The ends of the chain are named once in it and the others twice; the sentence with "knows" makes up for that.
    # In the twin the ends are exchanged.
    inner = ["@", *chain[1:-1], "#"]
    premises = []
    for above, below in pairwise(inner):
        flip = upwards if level == 1 else rng.random() < 0.5
        premises.append(f"{below} is {less} than {above}." if flip else f"{above} is {more} than {below}.")
    premises.append("{} knows {}.".format(*shuffled(rng, [chain[0], chain[-1]])))
    if level == 3:
        extra = rng.sample(chain, 4)
        premises += [f"{extra[i]} is {useless[0]} than {extra[i + 1]}." for i in (0, 2)]
    asks_top = rng.random() < 0.5
    asked = most if asks_top else least
    text = " ".join(shuffled(rng, premises))
    text = f"Question: {text} Who is {asked}? Answer:" if question else f"{text} So the {asked} is"
    ends = (chain[0], chain[-1])
    options = [*ends, *chain[1:-1]] if asks_top else [*reversed(ends), *chain[1:-1]]
    prompt, twin_prompt = (text.replace("@", a).replace("#", b) for a, b in (ends, ends[::-1]))
    return Draft(
        prompt=prompt,
        answer=f" {options[0]}",
        distractors=_wrong(rng, options),
        twin_prompt=twin_prompt,
        twin_answer=f" {options[1]}",
        group=f"logical-reasoning/names-{number}",
        template="order-question" if question else "order",
    )


def copying(rng: random.Random, level: int) -> Draft:
    """Ann does the same as Ben, Ben the same as Kim, and Kim does X; so Ann does X."""
    world = rng.choice(CHOICE_WORLDS)
    size = 2 + level
    options = rng.sample(world.options, size)
    names = rng.sample(PEOPLE, size + 1 + level)
    doers, (ann, *links) = names[:size], names[size:]
    deeds = (_gapped if level == 1 else _rules)(doers, world.one_does, options)
    copied = [ann, *links[: 1 + level // 3], "@"]
    facts = [f"{copier} copies {model}." for copier, model in pairwise(copied)]
    facts += [f"{copier} copies {rng.choice(doers)}." for copier in links[1 + level // 3 :]]
    text = shuffled(rng, [deeds, " ".join(shuffled(rng, facts))])
    return _draft(rng, " ".join([*text, f"So {ann} {world.one_does}"]), doers, options, world.name, "copying")


def universal_question(rng: random.Random, level: int) -> Draft:
    """`universal` as a question."""
    return universal(rng, level, question=True)


def ponens_question(rng: random.Random, level: int) -> Draft:
    """`ponens` as a question."""
    return ponens(rng, level, question=True)


def elimination_question(rng: random.Random, level: int) -> Draft:
    """`elimination` as a question."""
    return elimination(rng, level, question=True)


def order_question(rng: random.Random, level: int) -> Draft:
    """`order` as a question."""
    return order(rng, level, question=True)


MAKERS = (
    universal, ponens_question, elimination, only, order_question, copying, suspects, universal_question, tollens,
    ponens, order, elimination_question,
)  # fmt: skip


def generate(seed: int, n: int, level: int) -> list[Example]:
    return fill(TASK, MAKERS, seed, n, level)


def _draft(
    rng: random.Random,
    text: str,
    fillers: Sequence[str],
    options: Sequence[str],
    group: str,
    template: str,
    question: bool = False,
) -> Draft:
    """A draft whose gap is filled by one filler, and its twin's by another; each filler makes another option right."""
    right, twin = rng.sample(range(len(fillers)), 2) if len(fillers) > 2 else (0, 1)
    chosen = [options[right], options[twin], *(o for i, o in enumerate(options) if i not in (right, twin))]
    return Draft(
        prompt=text.replace("@", fillers[right]),
        answer=f" {chosen[0]}",
        distractors=_wrong(rng, chosen),
        twin_prompt=text.replace("@", fillers[twin]),
        twin_answer=f" {chosen[1]}",
        group=f"logical-reasoning/{group}",
        template=f"{template}-question" if question else template,
    )


def _wrong(rng: random.Random, options: Sequence[str]) -> tuple[str, ...]:
    """At most three wrong options: the answer is the first of `options`, the twin's answer the second."""
    others = rng.sample(options[2:], min(2, len(options) - 2))
    return tuple(f" {option}" for option in shuffled(rng, [options[1], *others]))


def _asked(premises: Sequence[str], world: World, name: str, question: bool) -> str:
    """The premises, and what is asked about this person."""
    text = " ".join(premises)
    if question:
        return f"Question: {text} {world.question.format(name)} Answer:"
    return f"{text} So {name} {world.one_does}"


def _split(phrase: str) -> tuple[str, str]:
    """The verb and its article, which comes only once before a list of options: ("play", "the ") for "play the"."""
    verb, _, last = phrase.rpartition(" ")
    return (verb, f"{last} ") if last in ("a", "the") else (phrase, "")


def _rules(subjects: Sequence[str], does: str, options: Sequence[str]) -> str:
    """Who does what: "All bakers get tea and all pilots get milk." """
    text = joined([f"{who} {does} {option}" for who, option in zip(subjects, options, strict=True)], "and")
    return f"{text[0].upper()}{text[1:]}."


def _gapped(subjects: Sequence[str], does: str, options: Sequence[str]) -> str:
    """The same, shorter: "All bakers get tea and all pilots milk." """
    verb, _, rest = does.partition(" ")
    rest = f"{rest} " if rest else ""
    first = f"{subjects[0]} {verb}"
    text = joined([f"{who} {rest}{option}" for who, option in zip([first, *subjects[1:]], options, strict=True)], "and")
    return f"{text[0].upper()}{text[1:]}."
