"""Which heads are chosen and which they are compared with."""

from collections import Counter

import numpy as np
import pytest

from headatlas.evidence.choice import Ranking, matched
from tests.evidence.common import ranking


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_first_heads_are_those_of_the_ranking_and_the_weakest_have_the_smallest_sizes():
    grid = np.array([[0.5, -3.0, 0.1], [2.0, -0.2, 0.0]])
    ranked = ranking(grid)
    assert ranked.first == ((1, 0), (0, 0), (0, 2), (1, 2), (1, 1), (0, 1))
    assert ranked.weakest == ((1, 2), (0, 2), (1, 1), (0, 0), (1, 0), (0, 1))
    assert ranked.top(2) == {(1, 0), (0, 0)}
    assert ranked.lowest(3) == {(1, 2), (0, 2), (1, 1)}
    assert ranked.top(0) == frozenset()


def test_the_ranking_is_that_of_the_atlas_whatever_the_values():
    """A method may rank the smallest values first."""
    grid = np.array([[0.5, 3.0], [2.0, 0.1]])
    ranked = Ranking.from_map([(1, 1), (0, 0), (1, 0), (0, 1)], grid)
    assert ranked.top(2) == {(1, 1), (0, 0)}
    assert ranked.lowest(1) == {(1, 1)}


def test_heads_that_were_not_measured_take_no_part():
    grid = np.array([[np.nan, 1.0, np.nan], [3.0, np.nan, -2.0]])
    ranked = ranking(grid)
    assert ranked.first == ((1, 0), (0, 1), (1, 2))
    assert ranked.weakest == ((0, 1), (1, 2), (1, 0))


def test_equal_values_keep_the_order_of_the_model():
    ranked = ranking(np.zeros((2, 2)))
    assert ranked.first == ranked.weakest == ((0, 0), (0, 1), (1, 0), (1, 1))


def test_the_elbow_of_a_ranking_counts_the_heads_that_stand_out():
    grid = np.full((4, 5), 0.01)
    grid[[0, 2, 3], [1, 4, 0]] = 5, 4.5, 4
    assert ranking(grid).elbow == 3


@pytest.mark.parametrize("seed", range(20))
def test_a_matched_draw_has_as_many_heads_in_every_layer_and_none_of_the_chosen(seed):
    chosen = {(0, 0), (0, 1), (2, 3), (3, 0), (3, 1), (3, 2)}
    drawn = matched(chosen, (4, 8), rng(seed))
    assert Counter(layer for layer, _ in drawn) == {0: 2, 2: 1, 3: 3}
    assert not drawn & chosen
    assert all(0 <= head < 8 for _, head in drawn)


def test_draws_differ_and_repeat_with_their_seed_and_reach_every_other_head():
    chosen = {(1, 2), (1, 3)}
    draws = [matched(chosen, (3, 6), rng(seed)) for seed in range(40)]
    assert draws == [matched(chosen, (3, 6), rng(seed)) for seed in range(40)]
    assert set().union(*draws) == {(1, head) for head in (0, 1, 4, 5)}
    assert len(set(draws)) == 6


@pytest.mark.parametrize("seed", range(10))
def test_the_nearest_layers_lend_where_a_layer_is_full(seed):
    chosen = {(4, head) for head in range(3)} | {(5, 0)}
    drawn = matched(chosen, (8, 4), rng(seed))
    counts = Counter(layer for layer, _ in drawn)
    assert len(drawn) == 4
    assert not drawn & chosen
    assert counts[4] == 1, "the one that is left in the layer itself"
    assert counts[3] + counts[5] == 3, "the missing two come from next door"
    full = {(0, head) for head in range(4)} | {(1, head) for head in range(4)}
    assert Counter(layer for layer, _ in matched(full, (8, 4), rng(seed))) == {2: 4, 3: 4}


def test_more_than_half_of_the_heads_leave_only_the_others():
    chosen = {(layer, head) for layer in range(3) for head in range(3)}
    assert matched(chosen, (3, 4), rng()) == {(layer, 3) for layer in range(3)}
    assert matched({(0, 0), (0, 1)}, (1, 2), rng()) == frozenset()
