"""Which examples and which sets of heads share a forward."""

import pytest

from headatlas.run.encoding import Option
from headatlas.run.packing import Starts, pack, prefix_of
from headatlas.run.work import OVERHEAD

MANY, FEW = Starts((0,) * 60, 4), Starts((0, 0), 4)


def options(*lengths: int, begin: tuple[int, ...] = ()) -> list[list[Option]]:
    """One option per example, of one token, after prompts of these lengths that differ after `begin`."""
    texts = [(*begin, *(100 * (i + 1) + j for j in range(length - len(begin)))) for i, length in enumerate(lengths)]
    return [[Option((*text, 7), len(text))] for text in texts]


def members(batches):
    return sorted(tuple(sorted(batch.members)) for batch in batches)


def test_many_sets_want_no_padding_and_few_want_few_forwards():
    encoded = options(20, 26, 20, 24)
    assert all((batch.lengths == batch.ids.shape[1]).all() for batch in pack(encoded, MANY, share=True, closed=False))
    assert members(pack(encoded, FEW, share=True, closed=False)) == [(0, 1, 2, 3)]


def test_examples_that_begin_alike_run_their_beginning_once_for_each_set():
    encoded = options(30, 34, 32, begin=tuple(range(25)))
    (batch,) = pack(encoded, MANY, share=True, closed=False)
    assert prefix_of(batch, MANY) == 25
    assert len(pack(encoded, MANY, share=False, closed=False)) == 3


def test_options_of_one_example_share_their_prompt_up_to_the_first_scored_position():
    prompt = tuple(range(20))
    encoded = [[Option((*prompt, 5, 6, 7), 20), Option((*prompt, 8, 9), 20)]]
    (batch,) = pack(encoded, MANY, share=True)
    assert (batch.size, prefix_of(batch, MANY)) == (2, 19)
    short = [[Option((1, 2, 5, 6, 7), 2), Option((1, 2, 8, 9), 2)]]
    assert prefix_of(pack(short, FEW, share=True)[0], FEW) == 0, "another forward would cost more than a few tokens"
    (single,) = pack([encoded[0][:1]], MANY, share=True)
    assert prefix_of(single, MANY) == 0


def test_batches_stay_within_their_size(monkeypatch):
    monkeypatch.setattr("headatlas.run.packing.BATCH_TOKENS", 45)
    batches = pack(options(*[20] * 7), FEW, share=True, closed=False)
    assert sorted(len(batch.members) for batch in batches) == [1, 2, 2, 2]


def test_a_forward_starts_at_the_first_layer_that_one_of_its_sets_changes():
    starts = Starts((10, 30, 2, 10, 3), 30)
    assert starts.forwards(0, 300) == [(2, [2, 4]), (10, [0, 3])], "layer 3 is too near for a forward of its own"
    assert starts.forwards(0, 4) == [(2, [2, 4, 0, 3])], "a set that changes nothing has no forward"
    assert starts.forwards(0, 800) == [(2, [2]), (3, [4]), (10, [0]), (10, [3])], "one at a time: there is no room"


def test_costs_count_tokens_from_their_layer_on_and_forwards():
    assert Starts((4, 4), 4).cost(0, 100) == 100 + OVERHEAD, "the intact model alone"
    assert Starts((0,), 4).cost(0, 100) == 2 * (100 + OVERHEAD)
    assert Starts((2,), 4).cost(0, 100) == pytest.approx(1.5 * (100 + OVERHEAD))
    assert Starts((2,), 4).cost(40, 60) == pytest.approx(1.5 * (100 + 2 * OVERHEAD))
