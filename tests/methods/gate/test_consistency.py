"""Overlap of circuits, on masks made by hand."""

from itertools import combinations

import numpy as np
import pytest

from headatlas.methods.gate.consistency import consistency, expected_jaccard, jaccard, most_disjoint, null_band

SHAPE = (3, 4)


def circuits(*sets):
    masks = np.zeros((len(sets), 12), dtype=bool)
    for row, heads in enumerate(sets):
        masks[row, list(heads)] = True
    return masks


def test_counts_sizes_and_overlaps():
    compared = consistency(circuits({0, 1, 2}, {1, 2, 3}, {2, 9}), [True, True, False], SHAPE)
    np.testing.assert_array_equal(compared.counts, [1, 2, 3, 1, 0, 0, 0, 0, 0, 1, 0, 0])
    np.testing.assert_array_equal(compared.sizes, [3, 3, 2])
    assert (compared.shared, compared.shared_share) == (1, pytest.approx(3 / 8))
    assert compared.jaccard == {(0, 1): 0.5, (0, 2): 0.25, (1, 2): 0.25}
    assert compared.mean == pytest.approx(1 / 3)
    assert (compared.sufficient, compared.disjoint) == (2, 1)


def test_disjoint_sufficient_sets_are_the_largest_choice():
    assert most_disjoint([]) == 0
    assert most_disjoint([frozenset({1, 2}), frozenset({3}), frozenset({2, 3}), frozenset({4})]) == 3
    rng = np.random.default_rng(0)
    for _ in range(20):
        sets = [frozenset(rng.choice(12, size=3, replace=False).tolist()) for _ in range(6)]
        sets = list(dict.fromkeys(sets))
        best = max(
            n
            for n in range(1, len(sets) + 1)
            for chosen in combinations(sets, n)
            if all(not a & b for a, b in combinations(chosen, 2))
        )
        assert most_disjoint(sets) == best
    same = consistency(circuits({0}, {0}, {1}), [True, True, True], SHAPE)
    assert (same.sufficient, same.disjoint) == (3, 2)  # the same set twice is one set


def test_chance_is_what_random_circuits_give():
    rng = np.random.default_rng(0)
    drawn = [
        jaccard(*(np.isin(np.arange(12), rng.choice(12, size=n, replace=False)) for n in (5, 7))) for _ in range(4000)
    ]
    assert expected_jaccard(12, 5, 7) == pytest.approx(np.mean(drawn), abs=0.01)
    assert expected_jaccard(12, 12, 12) == 1
    assert expected_jaccard(12, 0, 3) == 0
    assert expected_jaccard(12, 0, 0) == 1


def test_the_band_keeps_the_layers_and_excludes_circuits_that_agree():
    agreeing = circuits(*[{0, 1, 4, 5, 8, 9}] * 3)
    low, high = null_band(agreeing, SHAPE)
    assert 0.1 < low < high < 1
    compared = consistency(agreeing, [True] * 3, SHAPE)
    assert compared.mean == 1 > compared.band[1]
    whole_layer = circuits(*[{0, 1, 2, 3}] * 2)
    assert null_band(whole_layer, SHAPE) == (1, 1)  # which layer it is in explains everything


def test_one_seed_has_no_overlap_to_report():
    compared = consistency(circuits({0, 1}), [True], SHAPE)
    metrics = {d.metric for d in compared.diagnostics("gate", "Math")}
    assert not {"jaccard", "jaccard_mean", "jaccard_chance"} & metrics
    assert {"facilitating_seeds", "circuit_size", "shared_by_all", "disjoint_sufficient_sets"} <= metrics


def test_diagnostics_say_which_head_and_which_pair():
    entries = consistency(circuits({0, 5}, {5}), [False, False], SHAPE).diagnostics("gate", "Math")
    counts = [(d.layer, d.head, d.value) for d in entries if d.metric == "facilitating_seeds"]
    assert [heads for *heads, _ in counts] == [[layer, head] for layer in range(3) for head in range(4)]
    assert [count for count in counts if count[2]] == [(0, 0, 1), (1, 1, 2)]
    assert [(d.seed, d.other_seed, d.value) for d in entries if d.metric == "jaccard"] == [(0, 1, 0.5)]
    (mean,) = [d for d in entries if d.metric == "jaccard_mean"]
    assert mean.value == 0.5
    assert 0 <= mean.null_low <= mean.null_high <= 1
    assert mean.low is mean.high is None, "the band of the null is no interval of the value"
    assert {(d.method, d.task) for d in entries} == {("gate", "Math")}
