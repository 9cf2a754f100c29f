"""Margins from the few logits that do not cancel are those from all log-probabilities."""

from dataclasses import replace

import pytest
import torch

from headatlas.run.batches import make_batches
from headatlas.run.encoding import Encoder, Option
from tests import tiny

PROMPT = (5, 6, 7)


def option(*answer: int) -> Option:
    return Option((*PROMPT, *answer), len(PROMPT))


def test_one_token_options_need_no_whole_logits():
    (batch,) = make_batches([[option(8), option(9), option(10)]])
    reading = batch.reading(tiny.model())
    assert reading.whole.tolist() == []
    assert reading.single.tolist() == [[0, 2, 8], [0, 2, 9], [0, 2, 10]]


def test_an_answer_alone_needs_all_of_its_logits():
    (batch,) = make_batches([[option(8, 9)]])
    reading = batch.reading(tiny.model())
    assert reading.whole.tolist() == [[0, 2], [0, 3]]
    assert reading.single.tolist() == []


def test_what_options_share_before_they_differ_cancels_and_what_follows_does_not():
    """Both begin with 8; 4 and 3 are read behind it in the first row, whichever row they stand in; 2 follows 4 only."""
    (batch,) = make_batches([[option(8, 3), option(8, 4, 2)]])
    reading = batch.reading(tiny.model())
    assert reading.single.tolist() == [[0, 2, 8], [0, 3, 3], [0, 2, 8], [0, 3, 4]]
    assert reading.whole.tolist() == [[0, 4]]


def test_rows_of_one_example_that_begin_alike_are_read_once():
    (batch,) = make_batches([[option(8, 3), option(9, 4)]])
    assert batch.size == 2
    reading = batch.reading(tiny.model())
    assert [row for row, _, _ in reading.single.tolist()] == [0, 0], "the first tokens, both in the first row"
    assert sorted(reading.whole.tolist()) == [[0, 3], [1, 3]]


def test_an_option_that_is_not_read_somewhere_keeps_that_place_whole():
    """Two of three options go on after 8: what they lose there is not lost by the third."""
    (batch,) = make_batches([[option(9), option(8, 3), option(8, 4)]])
    reading = batch.reading(tiny.model())
    assert len(reading.single) == 3 and len(reading.whole) == 1
    assert reading.reads.tolist() == [0, 0]


@pytest.mark.parametrize("kind", tiny.FAMILIES)
@torch.no_grad()
def test_measured_is_the_quantity_of_all_log_probabilities(kind):
    model = tiny.model(kind)
    encoder = Encoder(model)
    encoded = [encoder.encode(example) for example in tiny.suite(12).examples]
    encoded += [[option(8, 3), option(9, 4, 2)], [option(8)], [option(8, 3), option(8, 4)], [option(2), option(3, 1)]]
    for batch in make_batches(encoded, 300):
        expected = batch.quantity(batch.score(model)[0])
        assert model.sharing.tokens
        close = {"atol": 2e-5, "rtol": 0}
        torch.testing.assert_close(batch.measured(model), expected[None], **close)
        with model.last_layer_where_scored():
            torch.testing.assert_close(batch.measured(model, 3), expected.expand(3, -1), **close)


@torch.no_grad()
def test_a_model_whose_logits_cannot_be_had_one_by_one_gives_the_same():
    model = tiny.model()
    (batch,) = make_batches([[option(8, 3), option(9, 4, 2)], [option(1), option(2)]])
    expected = batch.measured(model)
    model.sharing = replace(model.sharing, tokens=False)
    assert len(batch.reading(model).single) == 0
    torch.testing.assert_close(batch.measured(model), expected, atol=2e-5, rtol=0)


def test_the_gradient_is_the_same_either_way():
    """The batch is measured in inference mode first: what is kept of it must still serve a backward."""
    model = tiny.model()
    (batch,) = make_batches([[option(8, 3), option(9, 4, 2)], [option(1), option(2)]])
    with torch.inference_mode():
        batch.measured(model)
    gradients = []
    for quantity in (lambda: batch.measured(model)[0], lambda: batch.quantity(batch.score(model)[0])):
        gates = torch.ones(model.shape, requires_grad=True)
        with model.gate(gates):
            gradients.append(torch.autograd.grad(quantity().sum(), gates)[0])
    torch.testing.assert_close(*gradients, atol=2e-5, rtol=1e-4)
    assert gradients[0].abs().max() > 1e-3
