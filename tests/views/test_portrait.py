"""The sentence about a head says what was measured, with its number, and nothing else."""

from __future__ import annotations

import pytest

from headatlas.atlas.portraits import Circuit, Neutral, Number, Weight
from headatlas.views.portrait import look_words, routes, sentence
from tests.portraits import in_task, number, portrait


def test_every_part_has_its_number():
    assert sentence(portrait(), in_task()) == (
        "L1H2: without it Retrieval loses 1.90 nats of margin (1.60 to 2.20); of that 0.40 directly, 0.60 through MLPs "
        "and 0.90 through later heads; 61 % of its attention from where the answer is read goes to the words that "
        "differ in the twin; it writes what it reads (copying score +0.82); specific to Retrieval (its share of the "
        "effects is 8.0 points larger than in other tasks, q 0.002); L3H0 (+0.50 nats) stands in for it; it matters "
        "less without L0H2 (−0.70); on plain text a token loses 0.0021 nats without it."
    )


def test_what_is_not_known_is_not_said():
    seen = in_task(
        total=Number(value=0.1, low=-0.2, high=0.4, p=0.6), direct=None, specific=None, looks=None, backups=[],
        suppliers=[],
    )  # fmt: skip
    bare = portrait(circuit=None, neutral=Neutral(texts=4, lost=Number(value=0.01), looks=None))
    assert sentence(bare, seen) == (
        "L1H2: without it Retrieval changes by −0.10 nats of margin (−0.40 to 0.20), which may be nothing; on plain "
        "text it makes no difference that can be told from none."
    )


def test_a_harmful_head_gains_by_its_removal():
    seen = in_task(total=number(-1.0, 0.25))
    assert "without it Retrieval gains 1.00 nats of margin (0.75 to 1.25)" in sentence(portrait(), seen)


def test_an_unsure_change_and_its_interval_have_the_same_sign():
    seen = in_task(total=Number(value=0.3, low=-0.1, high=0.7, p=0.2))
    assert "changes by −0.30 nats of margin (−0.70 to 0.10), which may be nothing" in sentence(portrait(), seen)


def test_not_specific_is_said():
    seen = in_task(specific=number(0.01, p=None), specific_q=0.4)
    assert "; not shown to be specific to Retrieval;" in sentence(portrait(), seen)


@pytest.mark.parametrize("seen", [in_task(), in_task(direct=None)])
def test_the_routes_add_up_to_the_effect(seen):
    assert sum(routes(seen).values()) == pytest.approx(seen.total.value)


def test_the_first_token_is_named_only_where_nothing_else_is():
    first, other = Weight(text="the first token", value=0.7), Weight(text="the token before", value=0.05)
    assert look_words([first, other]) == "70 % of its attention from where the answer is read rests on the first token"
    assert "goes to the token before" in str(look_words([first, Weight(text="the token before", value=0.2)]))


def test_a_head_that_suppresses():
    circuit = Circuit(pairs=[], by_chance=2.5, copying=-0.9, itself=0.0, tokens=10)
    assert "it suppresses what it reads (copying score −0.90)" in sentence(portrait(circuit=circuit), in_task())
