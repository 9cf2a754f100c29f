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
def test_a_matched_draw_has_as_many_heads_in_every_layer(seed):
    chosen = {(0, 0), (0, 1), (2, 3), (3, 0), (3, 1), (3, 2)}
    drawn = matched(chosen, (4, 8), rng(seed))
    assert Counter(layer for layer, _ in drawn) == {0: 2, 2: 1, 3: 3}
    assert all(0 <= head < 8 for _, head in drawn)


def test_draws_repeat_with_their_seed_and_every_set_of_the_layer_is_as_likely_the_chosen_one_included():
    """Without the chosen heads, draws and chosen set would not be alike even where a map says nothing."""
    chosen = {(1, 2), (1, 3)}
    draws = [matched(chosen, (3, 6), rng(seed)) for seed in range(3000)]
    assert draws[:40] == [matched(chosen, (3, 6), rng(seed)) for seed in range(40)]
    counts = Counter(draws)
    assert len(counts) == 15
    assert frozenset(chosen) in counts
    assert max(abs(count - 200) for count in counts.values()) < 60  # four standard deviations


def test_a_whole_layer_has_no_other_heads_to_draw():
    chosen = {(1, head) for head in range(4)}
    assert matched(chosen, (3, 4), rng()) == chosen
