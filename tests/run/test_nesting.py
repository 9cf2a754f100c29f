"""Options that begin another: what remains of them without the longer one, and who then wins."""

import numpy as np
import pytest
import torch

from headatlas.run.batches import make_batches
from headatlas.run.competence import competence
from headatlas.run.encoding import Encoder, Option
from headatlas.run.interventions import score_intact
from headatlas.run.nesting import are_nested, continuations, option_texts, without_continuations
from headatlas.run.outcomes import answer_wins, by_example, outcome_of
from headatlas.suites.example import Example
from headatlas.suites.suite import Suite
from tests import tiny
from tests.run.contexts import run_context


def test_only_the_next_longer_options_go_on_from_one():
    assert continuations([(5, 7, 8), (5,), (5, 7), (6,), (5, 9)]) == [[], [2, 4], [0], [], []]
    assert continuations([(5, 7), (6, 7)]) == [[], []]


def test_the_probability_of_an_option_without_those_that_go_on_from_it():
    p = np.array([[0.6, 0.35, 0.2, 0.1, 0.05], [0.6, 0.6, 0.6, 0.0, 0.3]])
    texts = [(5,), (5, 7), (5, 7, 8), (5, 9), (6,)]
    with np.errstate(divide="ignore"):
        alone = without_continuations(np.log(p), texts)
        expected = np.log([[0.6 - 0.35 - 0.1, 0.35 - 0.2, 0.2, 0.1, 0.05], [0, 0, 0.6, 0, 0.3]])
    np.testing.assert_allclose(alone, expected, atol=1e-12)


def test_it_stays_exact_where_going_on_is_almost_certain():
    """log(1 - exp(-1e-12)) is -27.6; the difference of the two probabilities would have no digit left."""
    options = np.array([-700.0, -700.0 - 1e-10])
    alone = without_continuations(options, [(5,), (5, 7)])
    rest = options[0] - options[1]
    assert alone[0] == pytest.approx(-700.0 + np.log(rest), abs=1e-6)
    rounded_up = without_continuations(np.array([-1.0, -1.0 + 1e-16]), [(5,), (5, 7)])
    assert rounded_up[0] == -np.inf


def test_options_of_which_none_begins_another_are_untouched():
    options = np.array([-1.0, -2.0])
    assert without_continuations(options, [(5, 6), (5, 7)]) is options


def test_the_texts_of_a_batch_are_the_scored_tokens_of_its_options():
    encoded = [
        [Option((5, 6, 7, 8, 9), 3), Option((5, 6, 7, 8), 3)],
        [Option((5, 6), 1)],
        [Option((5, 6, 7), 2), Option((5, 6, 8), 2)],
    ]
    texts = {}
    for batch in make_batches(encoded, tokens=6):
        texts |= option_texts(batch)
    assert texts == {0: [[8, 9], [8]], 1: [[6]], 2: [[7], [8]]}
    assert are_nested(encoded[0]) and not are_nested(encoded[1]) and not are_nested(encoded[2])


def nested_examples() -> tuple[Example, ...]:
    """ " red" begins the distractor " red blue"; " red blue" and " green" have it as a distractor."""
    options = [(" red", " red blue"), (" red blue", " red"), (" green", " red"), (" red", " green")]
    return tuple(
        Example(
            id=f"{task}-{i}", task=task, group=f"{task}/{i}", prompt=f"{'the key of ' * (i % 3)}item {i} of {task} is",
            answer=options[i % 4][0], distractors=(options[i % 4][1], " five"),
        )
        for task in ("A", "B")
        for i in range(24)
    )  # fmt: skip


@torch.no_grad()
def probability(model, prompt: str, text: str) -> float:
    ids = [model.tokenizer(part)["input_ids"] for part in (prompt, text)]
    logprobs = model.logits(torch.tensor([ids[0] + ids[1]]))[0].double().log_softmax(-1)
    return float(np.exp(sum(logprobs[len(ids[0]) - 1 + i, token].item() for i, token in enumerate(ids[1]))))


def test_a_forced_choice_is_among_what_the_options_exclude(tmp_path):
    """Against probabilities subtracted one by one: competence and evidence count the same items as right."""
    context = run_context(tmp_path, suite=Suite("nested", nested_examples()))
    model, right = context.model, set()
    for example in nested_examples():
        p = {text: probability(model, example.prompt, text) for text in (example.answer, *example.distractors)}
        if " red" in p and " red blue" in p:
            p[" red"] -= p[" red blue"]
        if max(p, key=p.get) == example.answer:
            right.add(example.id)
    assert competence(context)[1] == right
    by_sum = set()
    for task in context.tasks:
        for split in context.splits:
            examples = context.examples(task, split)
            scored = [(b, score_intact(model, b)) for b in context.batches(task, split, with_distractors=True)]
            hits = outcome_of([(b, {k: v[None] for k, v in scores.items()}) for b, scores in scored]).hit[0]
            assert {e.id for e, hit in zip(examples, hits, strict=True) if hit} == right & {e.id for e in examples}
            by_sum |= {
                examples[member].id
                for b, scores in scored
                for member, options, greedy in by_example(b, scores)
                if answer_wins(options, greedy)
            }
    longer = {e.id for e in nested_examples() if e.answer == " red blue"}
    assert not by_sum & longer, "by the sum the longer one never wins"


def test_the_shorter_option_loses_where_the_model_goes_on():
    model = tiny.model()
    example = Example(id="1", task="A", group="g", prompt="the key is", answer=" red", distractors=(" red blue",))
    (batch,) = make_batches([Encoder(model).encode(example)])
    (scores,) = option_texts(batch).values()
    sure = np.log([0.9, 0.8])
    assert answer_wins(sure, np.zeros(2))
    assert not answer_wins(without_continuations(sure, scores), np.zeros(2))


def test_of_two_options_with_the_same_tokens_only_one_is_taken_away():
    p = np.array([0.5, 0.3, 0.3])
    alone = without_continuations(np.log(p), [(5,), (5, 7), (5, 7)])
    np.testing.assert_allclose(alone, np.log([0.2, 0.3, 0.3]), atol=1e-12)
