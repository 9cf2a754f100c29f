"""Masks remove every head equally often, independently of each other, and every example has equally many turns."""

import numpy as np

from headatlas.methods.sense.masks import BLOCK, draw_masks


def test_every_block_removes_every_head_once():
    masks = draw_masks((4, 6), examples=20, masks=200, per_mask=5, seed=0)
    assert masks.count == 200 and masks.removed.shape == (25, BLOCK, 24)
    assert (masks.removed.sum(1) == 1).all()
    by_layer = masks.removed.reshape(200, 4, 6).sum(2)
    assert (by_layer.mean(0) == 6 / BLOCK).all(), "every layer loses equally many"


def test_heads_of_a_layer_do_not_avoid_each_other():
    """Otherwise a head would be given a part of its neighbours' effects, with the sign reversed."""
    removed = draw_masks((2, 6), 10, 16_000, 1, seed=0).removed.reshape(-1, 12)
    correlations = np.corrcoef(removed.T)[np.triu_indices(12, 1)]
    assert np.abs(correlations).max() < 0.04 and abs(correlations.mean()) < 0.005


def test_examples_have_equally_many_turns_and_masks_equally_many_examples():
    masks = draw_masks((2, 3), examples=30, masks=80, per_mask=12, seed=3)
    assert masks.blocks.shape == (30, 4)
    assert all(len(set(blocks)) == 4 for blocks in masks.blocks.tolist())
    of_block = np.bincount(masks.blocks.ravel(), minlength=10)
    assert of_block.min() >= 11 and of_block.max() <= 13
    assert masks.of_example(7).tolist() == masks.removed[masks.blocks[7]].reshape(32, 6).tolist()


def test_blocks_are_whole_and_turns_never_more_than_blocks():
    masks = draw_masks((2, 3), examples=2, masks=41, per_mask=100, seed=0)
    assert masks.count == 48 and masks.blocks.tolist() == [[*range(6)]] * 2


def test_a_seed_is_repeated():
    first, again, other = (draw_masks((2, 3), 10, 40, 4, seed) for seed in (1, 1, 2))
    assert (first.place == again.place).all() and (first.blocks == again.blocks).all()
    assert (first.place != other.place).any()
