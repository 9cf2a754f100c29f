"""Grammar checked from the prompt alone: the decisive word is found again by rules written independently."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headatlas.suites.cognitive.syntactic_understanding import generate
from headatlas.suites.cognitive.syntactic_words import SCENES, gerund, past, plural
from headatlas.suites.example import Example

EXAMPLES = [example for level in (1, 2, 3) for seed in (0, 1) for example in generate(seed, 240, level)]
SINGULAR_NOUNS = {noun for s in SCENES for noun in (s.role, s.other_role, s.thing, s.other_thing)}
PLURAL_NOUNS = {plural(noun) for noun in SINGULAR_NOUNS}
SINGULAR_VERBS = {plural(verb) for s in SCENES for verb in (s.verb, s.other_verb)} | {"is", "was", "has"}
PLURAL_VERBS = {verb for s in SCENES for verb in (s.verb, s.other_verb)} | {"are", "were", "have"}
PARTICIPLES = {gerund(verb) for s in SCENES for verb in (s.verb, s.other_verb)}
REFLEXIVE = {"I": "myself", "We": "ourselves", "we": "ourselves", "You": "yourself", "you": "yourself"}
REFLEXIVE |= {s.he: "himself" for s in SCENES} | {s.she: "herself" for s in SCENES}
REFLEXIVE |= dict.fromkeys(PLURAL_NOUNS, "themselves")


def sides(kind: str) -> Iterator[tuple[list[str], str, list[str]]]:
    """Words of the last sentence, answer, and wrong options, of every example and of every twin of a template."""
    found = [example for example in EXAMPLES if (example.template or "").startswith(kind)]
    assert len(found) > 20
    for example in found:
        assert example.counterfactual
        wrong = [option.strip() for option in example.distractors]
        yield last_sentence(example.prompt), example.answer.strip(), wrong
        yield last_sentence(example.counterfactual.prompt), example.counterfactual.answer.strip(), []


def last_sentence(prompt: str) -> list[str]:
    return re.findall(r"[A-Za-z]+", re.split(r"[.:] ", prompt)[-1])


def head_is_plural(sentence: list[str]) -> bool:
    """The number of the first noun, the head; a subject joined by "and" is plural as well."""
    at = next(i for i, word in enumerate(sentence) if word in SINGULAR_NOUNS | PLURAL_NOUNS)
    return sentence[at] in PLURAL_NOUNS or sentence[at + 1] == "and"


def test_verb_agrees_with_the_head() -> None:
    for sentence, answer, wrong in sides("agreement"):
        right, other = (PLURAL_VERBS, SINGULAR_VERBS) if head_is_plural(sentence) else (SINGULAR_VERBS, PLURAL_VERBS)
        assert answer in right
        assert all(option in (other | PARTICIPLES) - right for option in wrong)


def test_reflexive_in_a_clause_takes_the_nearest_subject() -> None:
    for sentence, answer, wrong in sides("reflexive-in-clause"):
        assert answer == REFLEXIVE[sentence[-2]]
        assert answer not in wrong


def test_reflexive_after_a_clause_takes_the_first_noun() -> None:
    for sentence, answer, wrong in sides("reflexive-past-clause"):
        assert answer == REFLEXIVE[sentence[1] if sentence[0] == "The" else sentence[0]]
        assert answer not in wrong


def test_any_stands_only_in_the_scope_of_not() -> None:
    for kind in ("some-or-any", "scope-of-not"):
        for sentence, answer, wrong in sides(kind):
            negated = sentence[-2] == "not"  # the auxiliary of the main clause; another "not" has no scope here
            assert answer.startswith("any" if negated else "some")
            assert all(option.startswith("no" if negated else "any") for option in wrong)


def test_ever_needs_nobody() -> None:
    for sentence, answer, wrong in sides("ever-after-nobody"):
        assert (answer == "ever") == (sentence[0] == "Nobody")
        assert not wrong or ("ever" in wrong) == (sentence[0] == "Everybody")


def test_either_follows_two_negations() -> None:
    for sentence, answer, wrong in sides("too-or-either"):
        assert answer == {0: "too", 2: "either"}[sentence.count("not")]
        assert answer not in wrong


def test_gap_after_what_and_object_after_that() -> None:
    adverbs = {"yesterday", "today", "then", "earlier", "again", "recently"}
    for sentence, answer, wrong in sides("gap-or-object"):
        moved = "what" in sentence
        assert moved != ("that" in sentence)
        assert (answer in adverbs) == moved
        assert all((option in adverbs) != moved for option in wrong)


def test_noun_has_the_number_of_its_determiner() -> None:
    for sentence, answer, wrong in sides("noun-after-determiner"):
        many = bool({"these", "two", "several", "many"} & set(sentence))
        assert many != bool({"this", "one", "another", "every"} & set(sentence))
        right, other = (PLURAL_NOUNS, SINGULAR_NOUNS) if many else (SINGULAR_NOUNS, PLURAL_NOUNS)
        assert answer in right
        assert all(option in other | {"one" if many else "ones"} for option in wrong)


def test_auxiliary_fixes_the_form() -> None:
    bases = {verb for s in SCENES for verb in (s.verb, s.other_verb)}
    done = {past(verb) for verb in bases}
    forms = {"will": bases, "has": done, "have": done, "is": PARTICIPLES, "are": PARTICIPLES}
    for sentence, answer, wrong in sides("form-after-auxiliary"):
        (auxiliary,) = [word for word in sentence if word in forms]
        assert answer in forms[auxiliary]
        assert not set(wrong) & forms[auxiliary]


def test_case_follows_preposition_or_conjunction() -> None:
    subjects, objects = {"he", "she", "they", "we", "I"}, {"him", "her", "them", "us", "me"}
    for sentence, answer, wrong in sides("case-of-pronoun"):
        at = -4 if sentence[-1] == "and" else -1  # "with both Anna and"
        right, other = (objects, subjects) if sentence[at] in {"with", "beside", "behind"} else (subjects, objects)
        assert sentence[at] in {"with", "beside", "behind", "while", "because", "when"}
        assert answer in right
        assert set(wrong) <= other - {"her"}


def changed(example: Example) -> list[tuple[str, str]]:
    assert example.counterfactual
    pairs = zip(example.prompt.split(), example.counterfactual.prompt.split(), strict=True)
    return [
        (a.strip(",").lower(), b.strip(",").lower()) for a, b in pairs if a.strip(",").lower() != b.strip(",").lower()
    ]


def test_twins_differ_in_one_word_or_in_two_that_trade_places() -> None:
    for example in EXAMPLES:
        template = example.template or ""
        assert example.counterfactual
        if template.startswith("reflexive"):
            assert sorted(example.prompt.lower().replace(",", "").split()) == sorted(
                example.counterfactual.prompt.lower().replace(",", "").split()
            )
            continue
        differing = changed(example)
        if template == "scope-of-not":
            assert sorted(differing) == [("also", "not"), ("not", "also")]
        else:
            assert len(set(differing)) == 1
            assert len(differing) == (2 if template == "too-or-either" else 1)


def test_no_word_stands_in_two_sets() -> None:
    words = [word for scene in SCENES for word in scene]
    assert len(SCENES) >= 48
    assert len(words) == len(set(words))


def test_spelling_rules() -> None:
    assert [plural(w) for w in ("torch", "secretary", "bush", "key", "hurry")] == [
        "torches", "secretaries", "bushes", "keys", "hurries",
    ]  # fmt: skip
    assert [past(w) for w in ("nod", "dance", "reply", "sleep", "wait")] == [
        "nodded",
        "danced",
        "replied",
        "slept",
        "waited",
    ]
    assert [gerund(w) for w in ("nod", "dance", "disagree", "reply")] == [
        "nodding",
        "dancing",
        "disagreeing",
        "replying",
    ]
