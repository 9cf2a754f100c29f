"""Knowledge recall: the answer is a fact that is stored in the weights.

Nothing in the prompt gives the answer: the facts told as context are true, of the same relation, and about other
entities. Nothing has to be worked out either, except that level 3 may name a country by its capital, which takes one
more recall. The wrong options are right answers of the same relation for other entities.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from headatlas.suites.cognitive.drafting import Draft, Maker, fill
from headatlas.suites.cognitive.knowledge_facts import RELATIONS, Facts, Relation
from headatlas.suites.example import Example

TASK = "Knowledge Recall"

NAMES = (
    "Anna", "Tom", "Lucy", "Mark", "Ella", "Jack", "Sarah", "Ben", "Alice", "David", "Mary", "Paul", "Kate", "Sam",
)  # fmt: skip
TIERS = {1: (0,), 2: (0, 1), 3: (1, 2)}
QUESTIONS = 0.36  # of the drafts have the question form
TEMPTED = 0.3  # of the drafts above level 1 have a told answer among the options, so that copying it shows
DETOURS = 0.5  # of the level-3 drafts that can name their entity by another fact do so

# {s} is the open statement, {x} and {y} are told facts, {a}, {b} and {c} are people.
STATEMENT_FRAMES = {
    1: (
        "It is well known that {s}",
        "{a} told {b} that {s}",
        "As {a} and {b} know, {s}",
        "{a} read in a book that {s}",
        "{a} and {b} learned at school that {s}",
        "The answer that {a} gave was right: {s}",
        "Most people know, as {a} and {b} do, that {s}",
    ),
    2: (
        "{a} knows that {x}, and {b} knows that {s}",
        "{a} told {b} that {x}. Then {b} told {a} that {s}",
        "In the first lesson, {a} learned that {x}. In the second lesson, {b} learned that {s}",
        "{a} and {b} are doing a quiz. The first card says that {x}. The next card says that {s}",
    ),
    3: (
        (
            "In the first lesson, {a} learned that {x}. In the second lesson, {b} learned that {y}. "
            "In the last lesson of the day, {c} learned that {s}"
        ),
        (
            "{a}, {b} and {c} are doing a quiz at school. {a} says that {x}. {b} says that {y}. "
            "After a short break, {c} says that {s}"
        ),
        (
            "{a} and {b} read a book of facts to {c}. It says that {x}. On the next page it says that {y}. "
            "On the last page it says that {s}"
        ),
        "All three of them were right. {a} said that {x}. {b} said that {y}. {c} said that {s}",
    ),
}
QUESTION_FRAMES = {
    1: (
        "Question: {q} Answer:",
        "{a} asks {b}. Question: {q} Answer:",
        "{a} and {b} are doing a quiz. Question: {q} Answer:",
    ),
    2: (
        "{x} Question: {q} Answer:",
        "{a} asks {b}. {x} Question: {q} Answer:",
        "{a} has made a quiz for {b}. {x} Question: {q} Answer:",
        "{a} and {b} are doing a quiz after school. {x} Question: {q} Answer:",
    ),
    3: (
        "{x} {y} Question: {q} Answer:",
        "{a} and {b} are doing a quiz. {x} {y} Question: {q} Answer:",
        "{a} and {b} have made a quiz for {c}. Here is the first part of it. {x} {y} Question: {q} Answer:",
        (
            "{a}, {b} and {c} are doing a long quiz after school. All the answers so far are right. "
            "{x} {y} Question: {q} Answer:"
        ),
    ),
}


@dataclass(frozen=True)
class Fact:
    """One fact that can be asked, with the facts that can be its twin and the answers that are wrong for it."""

    entity: str
    answer: str
    group: str
    accepted: tuple[str, ...]
    twins: tuple[tuple[str, str], ...]
    wrong: tuple[str, ...]
    detour: str  # another name of the entity, or empty


def _slug(text: str) -> str:
    return text.lower().replace(" ", "-")


def _facts(relation: Relation, level: int) -> list[list[Fact]]:
    """The facts of a level, those with the same answer together."""
    pairs: Facts = {}
    for tier in TIERS[level]:
        pairs.update(relation.tiers[tier])
    by_answer: dict[str, list[Fact]] = {}
    for entity, answer in pairs.items():
        accepted = (answer, *relation.also.get(entity, ()))
        wrong = tuple(dict.fromkeys(other for other in pairs.values() if other not in accepted))
        twins = tuple(
            (name, other)
            for name, other in pairs.items()
            if other in wrong
            and answer not in relation.also.get(name, ())
            and len(name.split()) == len(entity.split())
            and (name in relation.detour_facts) >= (entity in relation.detour_facts)
        )
        group = f"knowledge-recall/{_slug(answer if relation.group_by_answer else entity)}"
        by_answer.setdefault(answer, []).append(
            Fact(entity, answer, group, accepted, twins, wrong, relation.detour_facts.get(entity, ""))
        )
    return list(by_answer.values())


def _maker(relation: Relation) -> Maker:
    """A maker for one relation: a told fact or two at the higher levels, then the fact that is asked."""
    facts = {level: _facts(relation, level) for level in TIERS}
    shown = tuple(relation.shown.items())

    def make(rng: random.Random, level: int) -> Draft:
        # The answer is drawn first: an answer that many facts share would otherwise be right more often than wrong.
        fact = rng.choice(rng.choice(facts[level]))
        twin, twin_answer = rng.choice(fact.twins)
        entity = fact.entity
        if level == 3 and fact.detour and rng.random() < DETOURS:
            entity = relation.detour.format(fact.detour)
            twin = relation.detour.format(relation.detour_facts[twin])
        told = rng.sample(shown, 2)
        others = rng.sample([option for option in fact.wrong if option != twin_answer], 2)
        told_answer = told[0][1]
        if level > 1 and rng.random() < TEMPTED and told_answer not in (*fact.accepted, twin_answer, others[1]):
            others[0] = told_answer
        wrong = [twin_answer, *others]
        rng.shuffle(wrong)
        a, b, c = rng.sample(NAMES, 3)
        asks = rng.random() < QUESTIONS
        wording = rng.choice(relation.questions if asks else relation.statements)
        if asks:
            x, y = (f"Question: {wording.format(name)} Answer: {answer}." for name, answer in told)
        else:
            x, y = (f"{wording.format(name)} {answer}" for name, answer in told)
        frame = rng.choice((QUESTION_FRAMES if asks else STATEMENT_FRAMES)[level])

        def prompt(name: str) -> str:
            asked = wording.format(name)
            return frame.format(s=asked, q=asked, x=x, y=y, a=a, b=b, c=c)

        return Draft(
            prompt=prompt(entity),
            answer=f" {fact.answer}",
            distractors=tuple(f" {option}" for option in wrong),
            twin_prompt=prompt(twin),
            twin_answer=f" {twin_answer}",
            group=fact.group,
            template=f"{relation.name}-question" if asks else relation.name,
        )

    return make


# A relation without facts that everybody knows has no examples at level 1; one with no others has none at level 3.
MAKERS = {
    level: tuple(_maker(relation) for relation in RELATIONS if any(relation.tiers[tier] for tier in TIERS[level]))
    for level in TIERS
}


def generate(seed: int, n: int, level: int) -> list[Example]:
    return fill(TASK, MAKERS.get(level, ()), seed, n, level)
