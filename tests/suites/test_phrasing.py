import random

from headatlas.suites.phrasing import capital, joined, shuffled


def test_items_are_joined_as_in_a_sentence():
    assert joined(["red"]) == "red"
    assert joined(["red", "blue"], "or") == "red or blue"
    assert joined(["red", "green", "blue"]) == "red, green and blue"


def test_only_the_first_letter_becomes_a_capital():
    assert capital("the Nile is in Africa") == "The Nile is in Africa"


def test_shuffling_returns_all_items_and_leaves_the_original_alone():
    items = (1, 2, 2, 3)
    orders = {tuple(shuffled(random.Random(seed), items)) for seed in range(60)}
    assert {tuple(sorted(order)) for order in orders} == {items}
    assert len(orders) == 12
