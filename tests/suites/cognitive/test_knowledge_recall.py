"""Knowledge recall: answers and twins are checked against the fact tables, the entity read back from the prompt."""

from __future__ import annotations

import re

from headatlas.suites.cognitive.knowledge_facts import RELATIONS, Relation
from headatlas.suites.cognitive.knowledge_recall import TASK, generate
from headatlas.suites.example import Example

BY_NAME = {relation.name: relation for relation in RELATIONS}
EXAMPLES = [example for level in (1, 2, 3) for seed in (0, 7) for example in generate(seed, 240, level)]


def _relation(example: Example) -> Relation:
    assert example.template is not None
    return BY_NAME[example.template.removesuffix("-question")]


def _facts(relation: Relation) -> dict[str, str]:
    return {entity: answer for tier in relation.tiers for entity, answer in tier.items()}


def _asked_entity(prompt: str, relation: Relation) -> str:
    """The entity of the last wording in the prompt, a detour taken back."""
    ends = [wording + " Answer:" for wording in relation.questions] + list(relation.statements)
    found = set()
    for end in ends:
        before, after = end.split("{}")
        names = list(_facts(relation)) + [relation.detour.format(name) for name in relation.detour_facts.values()]
        found |= {name for name in names if prompt.endswith(before + name + after)}
    entity = max(found, key=len)
    for country, capital in relation.detour_facts.items():
        if entity == relation.detour.format(capital):
            return country
    return entity


def test_answers_are_those_of_the_entity_in_the_prompt() -> None:
    for example in EXAMPLES:
        relation = _relation(example)
        twin = example.counterfactual
        assert twin is not None
        for prompt, answer in ((example.prompt, example.answer), (twin.prompt, twin.answer)):
            assert _facts(relation)[_asked_entity(prompt, relation)] == answer.strip(), prompt


def test_no_wrong_option_is_acceptable() -> None:
    for example in EXAMPLES:
        relation = _relation(example)
        accepted = relation.also.get(_asked_entity(example.prompt, relation), ())
        assert not {option.strip() for option in example.distractors} & set(accepted), example.prompt


def test_twins_differ_in_the_entity_only() -> None:
    for example in EXAMPLES:
        relation = _relation(example)
        twin = example.counterfactual
        assert twin is not None
        assert twin.answer in example.distractors
        assert len(twin.prompt.split()) == len(example.prompt.split())
        if "whose capital is" not in example.prompt:
            asked, other = _asked_entity(example.prompt, relation), _asked_entity(twin.prompt, relation)
            assert twin.prompt == other.join(example.prompt.rsplit(asked, 1))


def test_facts_told_as_context_are_never_asked() -> None:
    def keys(relation: Relation, facts: dict[str, str]) -> set[str]:
        return set(facts.values() if relation.group_by_answer else facts)

    asked = set().union(*(keys(relation, _facts(relation)) for relation in RELATIONS))
    shown = set().union(*(keys(relation, relation.shown) for relation in RELATIONS))
    assert asked & shown == set()


def test_an_answer_told_of_another_entity_belongs_to_a_shared_answer() -> None:
    """A context may hold the right answer only where several entities share it, as continents and kinds do."""
    for example in EXAMPLES:
        relation = _relation(example)
        if re.search(rf"\b{re.escape(example.answer.strip())}\b", example.prompt):
            assert example.answer.strip() in relation.shown.values(), example.prompt


def test_one_entity_is_one_group_whatever_is_asked_of_it() -> None:
    groups: dict[str, set[str | None]] = {}
    for example in EXAMPLES:
        groups.setdefault(example.group, set()).add(example.template)
        relation = _relation(example)
        key = example.answer.strip() if relation.group_by_answer else _asked_entity(example.prompt, relation)
        assert example.group == f"knowledge-recall/{key.lower().replace(' ', '-')}"
    assert {"capital", "currency"} <= groups["knowledge-recall/japan"] | groups["knowledge-recall/china"]
    assert all(example.task == TASK for example in EXAMPLES)
