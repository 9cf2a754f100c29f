"""Semantic understanding: answers, twins and wrong options are checked from the word sets, reading the prompt back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from headatlas.suites.cognitive.semantic_understanding import generate
from headatlas.suites.cognitive.semantic_words import BUNDLES, DEFINITIONS, SCALES, SENSES, TOPIC_FIELDS
from headatlas.suites.example import Example

EXAMPLES = [example for level in (1, 2, 3) for seed in (0, 7) for example in generate(seed, 240, level)]
ALL_SCALES = [scale for tier in SCALES for scale in tier]
END_OF = {word: (scale.name, i) for scale in ALL_SCALES for i, end in enumerate(scale.words) for word in end}
FIELD_OF = {scale.name: scale.field for scale in ALL_SCALES}
KIND_OF = {word: kind for bundle in BUNDLES for kind, words in bundle.items() for word in words}
SENSE_OF = {sense.word: sense for sense in SENSES}


def _of(*names: str) -> list[Example]:
    chosen = [example for example in EXAMPLES if (example.template or "").removesuffix("-question") in names]
    assert len({example.template for example in chosen}) == 2 * len(names)
    return chosen


def _both(example: Example) -> list[tuple[str, str]]:
    twin = example.counterfactual
    assert twin is not None
    return [(example.prompt, example.answer.strip()), (twin.prompt, twin.answer.strip())]


def _last(prompt: str, words: Iterable[str]) -> str:
    """The word of the set that stands last in the prompt."""
    known = set(words)
    return next(token for token in reversed(re.split(r"[^\w-]+", prompt)) if token in known)


ASKED = re.compile(
    r"(?:another word for|the opposite of|to be|was(?: not)?|and) ([\w-]+)"
    r"(?:\? Answer:| is| is to be| is the opposite of|\. In other words, the [\w ]+ was"
    r"| but the opposite, the [\w ]+ was)$"
)


def test_synonyms_and_opposites_lie_at_the_right_end_of_the_scale() -> None:
    for example in _of("synonym", "opposite"):
        same = (example.template or "").startswith("synonym")
        for prompt, answer in _both(example):
            found = ASKED.search(prompt)
            assert found is not None, prompt
            asked = found.group(1)
            assert asked != answer
            assert END_OF[asked][0] == END_OF[answer][0], prompt
            assert (END_OF[asked][1] == END_OF[answer][1]) == same, prompt
        scale, end = END_OF[example.answer.strip()]
        for option in example.distractors:
            other_scale, other_end = END_OF[option.strip()]
            assert FIELD_OF[other_scale] != FIELD_OF[scale] or (other_scale, other_end) == (scale, 1 - end)


def test_definitions_hold_the_phrase_of_the_answer() -> None:
    sets = {entry.name: entry for tier in DEFINITIONS for entry in tier}
    for example in _of("definition"):
        entry = sets[example.group.split("/defining-")[1]]
        for prompt, answer in _both(example):
            phrase = next(phrase for phrase, word in entry.words.items() if word == answer)
            assert prompt.endswith((entry.statement.format(phrase), entry.question.format(phrase) + " Answer:"))


def test_senses_follow_their_sentence() -> None:
    field_of = {topic: field for field, topics in TOPIC_FIELDS.items() for topic in topics}
    for example in _of("sense-in-context"):
        sense = SENSE_OF[example.group.split("/sense-")[1]]
        for prompt, answer in _both(example):
            sentence = sense.sentences[sense.topics.index(answer)]
            if example.level == 3:
                writer = re.search(r"in the sentence by (\w+)", prompt)
                assert writer is not None
                assert f'{writer.group(1)} wrote: "{sentence}"' in prompt
            else:
                assert [text in prompt for text in sense.sentences].count(True) == 1
                assert sentence in prompt
        far = [option.strip() for option in example.distractors if option.strip() not in sense.topics]
        assert not {field_of[topic] for topic in far} & {field_of[topic] for topic in sense.topics}


def test_kinds_and_members_match() -> None:
    kinds = list(KIND_OF.values())
    for example in _of("kind-of"):
        for prompt, answer in _both(example):
            assert KIND_OF[_last(prompt, KIND_OF)] == answer
    for example in _of("member-of"):
        for prompt, answer in _both(example):
            assert KIND_OF[answer] == _last(prompt, kinds)
            shown = [word for word in re.findall(r"\w+", prompt.split("card are")[1]) if word in KIND_OF]
            assert Counter(KIND_OF[word] for word in shown)[KIND_OF[answer]] == 1


def test_words_belong_together_or_do_not() -> None:
    for example in _of("belongs-with"):
        for prompt, answer in _both(example):
            given = [w for w in re.findall(r"\w+", prompt.split("The words ")[-1]) if w in KIND_OF]
            assert {KIND_OF[word] for word in given} == {KIND_OF[answer]}
            assert answer not in given
        assert KIND_OF[example.answer.strip()] not in {KIND_OF[option.strip()] for option in example.distractors}
    for example in _of("odd-one-out"):
        for prompt, answer in _both(example):
            row = [w for w in re.findall(r"\w+", prompt.split("the words ")[-1]) if w in KIND_OF]
            counts = Counter(KIND_OF[word] for word in row)
            assert sorted(counts.values()) == [1, 3]
            assert counts[KIND_OF[answer]] == 1
            assert answer in row


def test_the_answer_is_named_only_where_all_options_are() -> None:
    for example in EXAMPLES:
        told = [option for option in (example.answer, *example.distractors)
                if re.search(rf"\b{option.strip()}\b", example.prompt)]  # fmt: skip
        assert example.answer not in told or len(told) == 1 + len(example.distractors), example.prompt


def test_twins_keep_the_number_of_words() -> None:
    for example in EXAMPLES:
        (prompt, _), (twin, answer) = _both(example)
        assert len(prompt.split()) == len(twin.split())
        if not (example.template or "").startswith("odd-one-out"):
            assert f" {answer}" in example.distractors


def test_a_word_stands_in_one_set_only() -> None:
    words = [word for scale in ALL_SCALES for end in scale.words for word in end] + list(SENSE_OF)
    words += [word for bundle in BUNDLES for kind, members in bundle.items() for word in (kind, *members)]
    words += [word for tier in DEFINITIONS for entry in tier for word in entry.words.values()]
    assert [word for word, count in Counter(words).items() if count > 1] == []
    for sense in SENSES:
        first, second = sense.sentences
        assert len(first.split()) == len(second.split())
        for sentence in sense.sentences:
            assert sense.word in sentence.lower().rstrip(".").split()
            assert not {topic.rstrip("s") for topic in sense.topics} & set(sentence.lower().rstrip(".").split())
