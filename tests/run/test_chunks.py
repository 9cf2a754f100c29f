"""Batches that cost least, of those that can be had from neighbours in an order."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from headatlas.run.chunks import ALIKE, Sizes, cheapest_chunks


def cost(chunks, sizes, overhead, beginning):
    total = 0.0
    for chunk in chunks:
        rows, start = sum(sizes.rows[i] for i in chunk), min(sizes.starts[i] for i in chunk)
        total += rows * (max(sizes.widths[i] for i in chunk) - start) + beginning * rows * start + overhead
    return total


def every_way(order):
    """All ways to cut an order into chunks."""
    for number in range(len(order)):
        for cuts in combinations(range(1, len(order)), number):
            edges = [0, *cuts, len(order)]
            yield [order[a:b] for a, b in pairwise(edges)]


def random_sizes(seed, examples):
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, 20, examples)
    return Sizes(
        rng.integers(1, 3, examples).tolist(), (starts + rng.integers(1, 15, examples)).tolist(), starts.tolist()
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("overhead", "beginning"), [(0, 0), (10, 0.3), (35, 1 / 3), (200, 0)])
def test_no_other_cuts_of_an_order_cost_less(seed, overhead, beginning):
    sizes = random_sizes(seed, 9)
    chunks = cheapest_chunks(sizes, 60, overhead, beginning)
    assert sorted(i for chunk in chunks for i in chunk) == [*range(9)]

    def fits(chunk):
        rows, start = sum(sizes.rows[i] for i in chunk), min(sizes.starts[i] for i in chunk)
        return len(chunk) == 1 or rows * (max(sizes.widths[i] for i in chunk) - start) <= 60

    assert all(map(fits, chunks))
    for alike in ALIKE:
        order = sorted(range(9), key=lambda i: (sizes.starts[i] // alike, sizes.widths[i], sizes.starts[i], i))
        for other in every_way(order):
            if all(map(fits, other)):
                assert cost(chunks, sizes, overhead, beginning) <= cost(other, sizes, overhead, beginning) + 1e-9


def test_dear_batches_are_few_and_dear_padding_makes_many():
    sizes = random_sizes(0, 40)
    few, many = (cheapest_chunks(sizes, 10_000, overhead, 0) for overhead in (10_000, 0))
    assert len(few) == 1
    assert len(many) > 10
    assert cheapest_chunks(Sizes([], [], []), 10, 5, 0) == []


def test_an_example_that_is_too_long_has_a_batch_of_its_own():
    assert sorted(cheapest_chunks(Sizes([1, 1, 1], [100, 4, 4], [0, 0, 0]), 50, 1000, 0)) == [[0], [1, 2]]
