"""Batches: which rows are fed, and that no score depends on padding or on what else is in a batch."""

import pytest
import torch

from headatlas.run.batches import make_batches
from headatlas.run.encoding import Encoder, Option
from headatlas.suites.example import Example
from tests import tiny
from tests.run.reference import plain_logprob


def example(prompt: str, answer: str, *distractors: str) -> Example:
    return Example(id="e", task="t", prompt=prompt, answer=answer, distractors=distractors, group="g")


def test_options_share_rows_wherever_attention_allows():
    one, other = Option((5, 6, 7), 2), Option((5, 6, 8), 2)  # one token each after 5 6
    longer = Option((5, 6, 9, 10), 2)
    (batch,) = make_batches([[one, other, longer]])
    assert batch.ids.tolist() == [[5, 6, 9]]  # one row scores all three
    assert batch.positions.tolist() == [1, 1, 1, 2]
    assert batch.targets.tolist() == [7, 8, 9, 10]
    assert batch.slots.tolist() == [0, 1, 2, 2]


def test_batches_hold_every_example_once_and_keep_to_their_size():
    encoder = Encoder(tiny.model())
    encoded = [encoder.encode(e) for e in tiny.suite().examples]
    batches = make_batches(encoded, tokens=200)
    assert sorted(member for batch in batches for member in batch.members) == list(range(len(encoded)))
    assert len(batches) > 3
    assert all(batch.ids.numel() <= 200 or len(batch.members) == 1 for batch in batches)


@pytest.mark.parametrize("kind", tiny.FAMILIES)
@torch.no_grad()
def test_the_score_of_an_example_does_not_depend_on_padding_or_on_the_rest_of_its_batch(kind):
    """The same example alone, in a small batch and in a large one: the same log-probability, which is the plain one."""
    model = tiny.model(kind)
    encoder = Encoder(model)
    encoded = [encoder.encode(e) for e in tiny.suite(12).examples]
    widths = set()
    scores: dict[int, dict[tuple[int, int], float]] = {}
    for tokens in (1, 120, 4000):
        scores[tokens] = {}
        for batch in make_batches(encoded, tokens):
            widths.add(batch.ids.shape[1])
            logprobs, _ = batch.score(model)
            for number, member in enumerate(batch.members):
                for option, value in enumerate(logprobs[batch.owners == number].tolist()):
                    scores[tokens][member, option] = value
    assert len(widths) > 2
    for (member, option), value in scores[1].items():
        text = encoded[member][option]
        assert value == pytest.approx(plain_logprob(model, text.tokens, text.start), abs=1e-5)
        assert scores[120][member, option] == pytest.approx(value, abs=1e-5)
        assert scores[4000][member, option] == pytest.approx(value, abs=1e-5)


@torch.no_grad()
def test_greedy_says_whether_decoding_gives_the_answer():
    model = tiny.model()
    prompt = tiny.tokenizer()("the key is in")["input_ids"]
    generated = list(prompt)
    for _ in range(3):
        generated.append(int(model.module(input_ids=torch.tensor([generated])).logits[0, -1].argmax()))
    wrong = [*generated[:-1], (generated[-1] + 1) % tiny.VOCABULARY]
    options = [Option(tuple(tokens), len(prompt)) for tokens in (generated, wrong)]
    (batch,) = make_batches([options])
    assert batch.score(model)[1].tolist() == [True, False]


@torch.no_grad()
def test_every_copy_in_a_repeated_batch_scores_the_same():
    model = tiny.model()
    encoder = Encoder(model)
    batch = make_batches([encoder.encode(e) for e in tiny.suite(6).examples])[0]
    once, _ = batch.score(model)
    thrice, _ = batch.repeat(3).score(model)
    torch.testing.assert_close(thrice, once.repeat(3), atol=1e-5, rtol=0)
    assert batch.repeat(3).owners.max() == 3 * len(batch.members) - 1


@torch.no_grad()
def test_some_examples_of_a_batch_in_any_order_score_what_they_scored():
    """With several rows and options for an example, one of them twice."""
    model = tiny.model()
    encoder = Encoder(model)
    examples = [
        example("one two", f" red {word}", f" blue {word}", f" {word}") for word in ("sky", "sea", "house", "a")
    ]
    (batch,) = make_batches([encoder.encode(e) for e in examples], tokens=4000)
    assert batch.size > len(batch.members), "an example needs several rows"
    logprobs, _ = batch.score(model)
    wanted = [3, 0, 3]
    some = batch.of(wanted)
    assert some.members == tuple(batch.members[i] for i in wanted)
    scores, _ = some.score(model)
    expected = torch.cat([logprobs[batch.owners == i] for i in wanted])
    torch.testing.assert_close(scores, expected, atol=1e-5, rtol=0)
    rows_of = [int((batch.row_owners == i).sum()) for i in wanted]
    assert some.row_owners.tolist() == [number for number, rows in enumerate(rows_of) for _ in range(rows)]


def test_the_key_of_a_batch_follows_its_content():
    encoder = Encoder(tiny.model())
    first, second = (make_batches([encoder.encode(example("the key is", answer))])[0] for answer in (" in", " red"))
    again = make_batches([encoder.encode(example("the key is", " in"))])[0]
    assert first.key == again.key != second.key


def test_examples_with_other_prefixes_are_not_put_together_where_much_would_be_padding():
    options = [[Option(tuple(range(30)), 28)] for _ in range(8)]
    prefixes = [26, 2, 25, 3, 26, 2, 24, 3]
    batches = make_batches(options, 10_000, prefixes, overhead=20)
    assert sorted(sorted(batch.members) for batch in batches) == [[0, 2, 4, 6], [1, 3, 5, 7]]
    (together,) = make_batches(options, 10_000, prefixes, overhead=1000)
    assert len(together.members) == 8


def test_a_batch_without_its_prefix_scores_the_same_tokens():
    (batch,) = make_batches([[Option((5, 6, 7, 8, 9), 3)], [Option((5, 6, 1, 2), 3)]])
    rest = batch.after(2)
    assert rest.ids.tolist() == batch.ids[:, 2:].tolist()
    assert rest.positions.tolist() == (batch.positions - 2).tolist()
    assert rest.lengths.tolist() == [1, 2]
    assert rest.targets is batch.targets
