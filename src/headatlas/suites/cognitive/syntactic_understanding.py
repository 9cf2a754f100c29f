"""Syntactic Understanding: the next word is right or wrong by grammar alone.

Every example is one side of a minimal pair: the sentence and its twin differ by one word, or by two that are exchanged,
and a form that is right in one is wrong in the other. All options fit the meaning and come from the same lexical set,
so neither knowledge nor the story decides; only the structure of the sentence does.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from headatlas.suites.cognitive import syntactic_words as words
from headatlas.suites.cognitive.drafting import Draft, Maker, fill
from headatlas.suites.cognitive.syntactic_words import Scene, gerund, past, plural
from headatlas.suites.example import Example
from headatlas.suites.phrasing import capital

TASK = "Syntactic Understanding"


@dataclass(frozen=True)
class Pair:
    """A sentence that stops before its decisive word, and its twin. Words come without their leading space."""

    sentence: str
    answer: str
    wrong: tuple[str, ...]
    twin: str
    twin_answer: str


Core = Callable[[random.Random, Scene, int], Pair]


def agreement_past_phrase(rng: random.Random, scene: Scene, level: int) -> Pair:
    """The verb agrees with the head, not with the nouns of the phrase in between."""
    head, between = words.roles(rng, scene)
    many, between_many = rng.random() < 0.5, rng.random() < 0.5
    near, often = rng.choice(words.NEAR), rng.choice(words.OFTEN)
    things = words.number(scene.thing, rng.random() < 0.5)
    tail = ("", f" at the {scene.place}", f" who carried the {things} across the {scene.place} last week")[level - 1]

    def sentence(number: bool) -> str:
        return f"The {words.number(head, number)} {near} the {words.number(between, between_many)}{tail} {often}"

    answer, twin_answer, wrong = words.finite(rng, scene, many)
    return Pair(sentence(many), answer, wrong, sentence(not many), twin_answer)


def agreement_past_clause(rng: random.Random, scene: Scene, level: int) -> Pair:
    """The verb agrees with the head, not with the subject of the relative clause in between."""
    head, between = words.roles(rng, scene)
    many, between_many = rng.random() < 0.5, rng.random() < 0.5
    often, met = rng.choice(words.OFTEN), rng.choice(("met", "saw", "visited"))
    when, near = rng.choice(("yesterday", "last week", "this morning")), rng.choice(words.NEAR)
    things = words.number(scene.thing, rng.random() < 0.5)
    beside = f" {near} the {things} at the {scene.place}" if level == 3 else ""
    done = (met, f"{met} {near} the {scene.place}", f"{met} and thanked")[level - 1]
    clause = f"who the {words.number(between, between_many)}{beside} {done}"

    def sentence(number: bool) -> str:
        return f"The {words.number(head, number)} {clause} {when} {often}"

    answer, twin_answer, wrong = words.finite(rng, scene, many)
    return Pair(sentence(many), answer, wrong, sentence(not many), twin_answer)


def agreement_of_things(rng: random.Random, scene: Scene, level: int) -> Pair:
    """A helping verb (is, was, has) agrees with the head, not with the other things named after it."""
    head, between = rng.sample((scene.thing, scene.other_thing), 2)
    many, between_many = rng.random() < 0.5, rng.random() < 0.5
    near, kind = rng.choice(words.NEAR), rng.choice(("old", "new", "small", "large"))
    roles = words.number(scene.role, rng.random() < 0.5)
    tail = ("", f" at the {scene.place}", f" that the {roles} brought to the {scene.place} last year")[level - 1]

    def sentence(number: bool) -> str:
        return f"The {kind} {words.number(head, number)} {near} the {words.number(between, between_many)}{tail}"

    which = rng.randrange(3)
    right, wrong = (words.PLURAL_HELPERS, words.SINGULAR_HELPERS)[:: 1 if many else -1]
    return Pair(sentence(many), right[which], wrong, sentence(not many), wrong[which])


def agreement_of_joined(rng: random.Random, scene: Scene, level: int) -> Pair:
    """Two subjects joined by "and" take a plural verb; one subject near another does not."""
    head, between = words.roles(rng, scene)
    many = rng.random() < 0.5
    near, often = rng.choice(("near", "behind", "beside")), rng.choice(words.OFTEN)
    tail = ("", f" from the {scene.place}", f" who brought the {plural(scene.thing)} to the {scene.place}")[level - 1]

    def sentence(joined: bool) -> str:
        return f"The {head} {'and' if joined else near} the {between}{tail} {often}"

    answer, twin_answer, wrong = words.finite(rng, scene, many)
    return Pair(sentence(many), answer, wrong, sentence(not many), twin_answer)


def reflexive_in_clause(rng: random.Random, scene: Scene, level: int) -> Pair:
    """The reflexive takes the subject of its own clause, not that of the clause around it."""
    inner, outer, third = words.people(rng, scene)
    speaker = rng.choice((("I", "myself"), ("we", "ourselves"), ("you", "yourself")))
    inner, outer = rng.choice(((inner, outer), (inner, outer), (inner, speaker), (speaker, outer)))
    said = rng.choice(("said", "thought", "knew", "believed"))
    aside = ("", f" after the visit to the {scene.place}", f" after the visit of {third[0]} to the {scene.place}")
    said += f" {rng.choice(('on Monday', 'last night', 'yesterday'))}" if level == 3 else ""

    def sentence(first: str, second: str) -> str:
        return capital(f"{first} {said} that{aside[level - 1]} {second} {scene.hurt}")

    wrong = (outer[1], third[1], rng.choice([r for r in words.REFLEXIVES if r not in (inner[1], outer[1], third[1])]))
    return Pair(sentence(outer[0], inner[0]), inner[1], wrong, sentence(inner[0], outer[0]), outer[1])


def reflexive_past_clause(rng: random.Random, scene: Scene, level: int) -> Pair:
    """The reflexive takes the subject, not the nearer name inside the relative clause."""
    first, second, third = words.people(rng, scene)
    met = rng.choice(("met", "saw", "knew"))
    more = ("", f" at the {scene.place}", f" long before {third[0]} came to the {scene.place}")[level - 1]

    def sentence(head: str, other: str) -> str:
        return capital(f"{head}, who {met} {other}{more}, {scene.hurt}")

    wrong = (second[1], third[1], rng.choice(words.REFLEXIVES[3:]))
    return Pair(sentence(first[0], second[0]), first[1], wrong, sentence(second[0], first[0]), second[1])


def some_or_any(rng: random.Random, scene: Scene, level: int) -> Pair:
    """ "Any" needs a negation before it; "some" needs none."""
    head, between = words.roles(rng, scene)
    negated = rng.random() < 0.5
    find = rng.choice(("see", "find", "hear", "want", "bring", "need"))
    near = rng.choice(words.NEAR)
    tail = ("", f" {near} the {between}", f" who met the {plural(between)} {near} the {scene.place}")[level - 1]
    when = rng.choice(words.DAYS)

    def sentence(negative: bool) -> str:
        return f"{when} the {head}{tail} did {'not' if negative else 'also'} {find}"

    answer, twin_answer, wrong = words.polar(rng, negated)
    return Pair(sentence(negated), answer, wrong, sentence(not negated), twin_answer)


def scope_of_not(rng: random.Random, scene: Scene, level: int) -> Pair:
    """A negation inside the relative clause does not license "any" after it; one in the main clause does."""
    head, between = words.roles(rng, scene)
    negated = rng.random() < 0.5
    find = rng.choice(("see", "find", "hear", "want", "need"))
    near = rng.choice(words.NEAR)
    tail = ("", f" {near} the {between}", f" {near} the {plural(between)} who came to the {scene.place}")[level - 1]

    def sentence(negative: bool) -> str:
        inside, outside = ("also", "not") if negative else ("not", "also")
        return f"The {head} who did {inside} {scene.verb}{tail} did {outside} {find}"

    answer, twin_answer, wrong = words.polar(rng, negated)
    return Pair(sentence(negated), answer, wrong, sentence(not negated), twin_answer)


def ever_after_nobody(rng: random.Random, scene: Scene, level: int) -> Pair:
    """ "Nobody" licenses "ever"; "everybody" does not."""
    negated = rng.random() < 0.5
    head, between = words.roles(rng, scene)
    tails = (
        f"at the {scene.place}",
        f"who met the {head} at the {scene.place}",
        f"who met the {plural(head)} and spoke with the {between} at the {scene.place}",
    )
    free = rng.choice(("often", "already", "always"))

    def sentence(negative: bool) -> str:
        return f"{'Nobody' if negative else 'Everybody'} {tails[level - 1]} has"

    if negated:
        return Pair(sentence(True), "ever", ("never", "nothing", "none"), sentence(False), free)
    return Pair(sentence(False), free, ("ever", "anything", "anyone"), sentence(True), "ever")


def too_or_either(rng: random.Random, scene: Scene, level: int) -> Pair:
    """A second negated clause ends in "either", a second positive one in "too"."""
    head, between = words.roles(rng, scene)
    negated = rng.random() < 0.5
    verb = rng.choice((scene.verb, scene.other_verb))
    will = rng.choice(("will", "did", "could"))
    tails = ("", f" near the {scene.place}", f" who brought the {plural(scene.thing)} to the {scene.place}")

    def sentence(negative: bool) -> str:
        may = f"{will} {'not' if negative else 'indeed'} {verb}"
        return f"The {head}{tails[level - 1]} {may}, and the {between} {may}"

    if negated:
        return Pair(sentence(True), "either", ("too", "neither"), sentence(False), "too")
    return Pair(sentence(False), "too", ("either", "neither"), sentence(True), "either")


def gap_or_object(rng: random.Random, scene: Scene, level: int) -> Pair:
    """After "what" the verb must have no object; after "that" it must have one."""
    gap = rng.random() < 0.5
    teller, listener = rng.sample((scene.he, scene.she), 2)
    knew = rng.choice(("knew", "remembered", "saw", "heard", "forgot"))
    between = plural(scene.other_role)
    bodies = (
        f"the {scene.role}",
        f"the {scene.role} {rng.choice(words.NEAR)} the {between}",
        f"{listener} said the {scene.role} who came to the {scene.place} with the {between}",
    )

    def sentence(moved: bool) -> str:
        return f"{teller} {knew} {'what' if moved else 'that'} {bodies[level - 1]} {scene.took}"

    adverbs = tuple(rng.sample(words.WHEN, 3))
    objects = tuple(rng.sample(words.OBJECTS, 3))
    if gap:
        return Pair(sentence(True), adverbs[0], objects, sentence(False), objects[0])
    return Pair(sentence(False), objects[0], adverbs, sentence(True), adverbs[0])


def noun_after_determiner(rng: random.Random, scene: Scene, level: int) -> Pair:
    """The noun has the number that its determiner asks for."""
    many = rng.random() < 0.5
    head, between = words.roles(rng, scene)
    determiners = rng.choice(words.DETERMINERS)
    kind = rng.choice((words.PLAIN, words.PLAIN[1:], words.DOUBLE)[level - 1])
    near = rng.choice(words.NEAR)
    tail = ("", f" {near} the {between}", f" who met the {plural(between)} {near} the {scene.place}")[level - 1]
    when = rng.choice(words.DAYS)

    def sentence(number: bool) -> str:
        return f"{when} the {head}{tail} {scene.took} {determiners[number]}{kind}"

    thing, other = rng.sample((scene.thing, scene.other_thing), 2)
    wrong = (words.number(thing, not many), words.number(other, not many), "one" if many else "ones")
    return Pair(sentence(many), words.number(thing, many), wrong, sentence(not many), wrong[0])


def form_after_auxiliary(rng: random.Random, scene: Scene, level: int) -> Pair:
    """The auxiliary fixes the form of the verb that depends on it, however far away."""
    head, between = words.roles(rng, scene)
    many, between_many = rng.random() < 0.5, rng.random() < 0.5
    verb, other = rng.sample((scene.verb, scene.other_verb), 2)
    forms = {
        "will": (verb, (plural(verb), past(verb), gerund(verb))),
        "have" if many else "has": (past(verb), (verb, plural(verb), gerund(verb))),
        "are" if many else "is": (gerund(verb), (verb, plural(verb), other)),
    }
    first, second = rng.sample(sorted(forms), 2)
    near, now = rng.choice(words.NEAR), rng.choice(("now", "always", "once again"))
    away = f"like the {words.number(between, between_many)} {near} the {scene.place}"
    gap = ("", f", {away},", f", {away} and the people who came with them,")[level - 1]

    def sentence(auxiliary: str) -> str:
        return f"The {words.number(head, many)} from the {scene.place} {auxiliary}{gap} {now}"

    answer, wrong = forms[first]
    return Pair(sentence(first), answer, wrong, sentence(second), forms[second][0])


def case_of_pronoun(rng: random.Random, scene: Scene, level: int) -> Pair:
    """A preposition takes the object form, a conjunction the subject form."""
    head, between = words.roles(rng, scene)
    linked = rng.random() < 0.5
    subject, thing = rng.choice(words.CASES)
    preposition, conjunction = rng.choice(("with", "beside", "behind")), rng.choice(("while", "because", "when"))
    verb = past(rng.choice((scene.verb, scene.other_verb)))
    middle = (
        "",
        f" near the {between} from the {scene.place}",
        f" near the {plural(between)} who came to the {scene.place} last week",
    )[level - 1]
    company = f" both {rng.choice((scene.he, scene.she))} and" if level == 3 else ""
    when = rng.choice(words.DAYS)

    def sentence(conjoined: bool) -> str:
        return f"{when} the {head} {verb}{middle} {conjunction if conjoined else preposition}{company}"

    # "Her" also comes before a noun ("because her friend"), so it is never a wrong option.
    subjects = [s for s, _ in words.CASES if s != subject]
    objects = [o for _, o in words.CASES if o not in (thing, "her")]
    if linked:
        wrong = ((thing,) if thing != "her" else ()) + tuple(rng.sample(objects, 2))
        return Pair(sentence(True), subject, wrong, sentence(False), thing)
    return Pair(sentence(False), thing, (subject, *rng.sample(subjects, 2)), sentence(True), subject)


def _maker(core: Core, asked: bool) -> Maker:
    """A maker that puts the pairs of `core` after an opening, or after a question that gives nothing away."""
    template = core.__name__.replace("_", "-") + ("-in-answer" if asked else "")

    def make(rng: random.Random, level: int) -> Draft:
        scene = rng.choice(words.SCENES)
        pair = core(rng, scene, level)
        opening = rng.choice((words.QUESTIONS if asked else words.OPENINGS)[level]).format(
            place=scene.place, roles=plural(scene.role), others=plural(scene.other_role)
        )
        if asked:
            opening = f"Question: {opening}Answer: "
        return Draft(
            prompt=opening + pair.sentence,
            answer=f" {pair.answer}",
            distractors=tuple(f" {word}" for word in pair.wrong),
            twin_prompt=opening + pair.twin,
            twin_answer=f" {pair.twin_answer}",
            group=f"syntactic-understanding/{scene.place}",
            template=template,
        )

    return make


STATED: tuple[Core, ...] = (
    agreement_past_phrase, agreement_past_clause, agreement_of_things, agreement_of_joined, reflexive_in_clause,
    reflexive_past_clause, some_or_any, scope_of_not, ever_after_nobody, too_or_either, gap_or_object,
    noun_after_determiner, form_after_auxiliary, case_of_pronoun,
)  # fmt: skip
ASKED: tuple[Core, ...] = (
    agreement_past_phrase, agreement_of_things, reflexive_in_clause, some_or_any, gap_or_object, noun_after_determiner,
    form_after_auxiliary,
)  # fmt: skip
MAKERS = tuple(_maker(core, asked=False) for core in STATED) + tuple(_maker(core, asked=True) for core in ASKED)


def generate(seed: int, n: int, level: int) -> list[Example]:
    """`n` minimal pairs of the level, from the seed alone."""
    return fill(TASK, MAKERS, seed, n, level)
