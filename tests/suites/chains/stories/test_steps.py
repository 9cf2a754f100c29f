from __future__ import annotations

import random
from collections import Counter

import pytest

from headatlas.suites.chains.stories.steps import bare, bounds, near, others, people, shown


def test_articles_are_removed() -> None:
    assert [bare(text) for text in ("a cat", "an owl", "the anthem", "apple")] == ["cat", "owl", "anthem", "apple"]


def test_wrong_options_are_different_and_never_the_answer() -> None:
    for seed in range(50):
        drawn = others(random.Random(seed), ("a", "b", "b", "c", "d", "e"), "c")
        assert len(set(drawn)) == 3
        assert set(drawn) <= set("abde")
    assert shown(random.Random(0), [4, 4, 5], 5) == ("4",)


@pytest.mark.parametrize("answer", [1, 2, 40])
def test_near_numbers_are_positive_and_never_the_answer(answer: int) -> None:
    below = Counter()
    for seed in range(400):
        drawn = [int(text) for text in near(random.Random(seed), answer)]
        assert len(set(drawn)) == 3
        assert all(number > 0 and 1 <= abs(number - answer) <= 6 for number in drawn)
        below[sum(number < answer for number in drawn)] += 1
    if answer == 40:  # with room on both sides, every rank is equally likely
        assert all(70 <= below[rank] <= 130 for rank in range(4)), below


def test_the_number_is_in_the_band_that_is_named() -> None:
    bands = Counter()
    for seed in range(300):
        low, high, band = bounds(random.Random(seed), 20)
        assert 2 < low < high - 1
        assert band == (low < 20) + (high < 20)
        assert 20 not in (low, high)
        bands[band] += 1
    assert min(bands.values()) > 70


def test_people_have_different_names() -> None:
    for seed in range(50):
        assert len({name for name, _ in people(random.Random(seed), 3)}) == 3
