"""Which heads are removed together, and on which examples: a randomised experiment in blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BLOCK = 8  # masks of a block, each head being removed in one of them: a mask takes an eighth of the heads


@dataclass(frozen=True)
class Masks:
    """`place` [block, head] is the mask of its block that removes a head; `blocks` [example, turn] are the blocks whose
    masks are tried on an example, all different."""

    place: NDArray[np.int64]
    blocks: NDArray[np.int64]

    @property
    def count(self) -> int:
        return len(self.place) * BLOCK

    @property
    def removed(self) -> NDArray[np.bool_]:
        """[block, mask, head]"""
        return self.place[:, None, :] == np.arange(BLOCK)[:, None]

    def of_example(self, example: int) -> NDArray[np.bool_]:
        """The masks that are tried on an example [mask, head]: its turns one after the other."""
        return self.removed[self.blocks[example]].reshape(-1, self.place.shape[1])


def draw_masks(shape: tuple[int, int], examples: int, masks: int, per_mask: int, seed: int) -> Masks:
    """At least so many masks, in whole blocks, each tried on about `per_mask` of the examples.

    Layer by layer, every head of a layer is dealt to one of the masks of a block, so that each layer loses each of its
    heads once per block. Heads are dealt independently of each other. Were the counts of a layer made equal in all
    masks, a head would stay wherever its neighbours go, and be given their effects with the sign reversed.

    All masks of a block are tried on the same examples, so that what differs between examples cancels; other blocks are
    tried on others. All examples have the same number of turns.
    """
    rng = np.random.default_rng([seed, *shape, examples])
    layers, heads = shape
    count = -(-masks // BLOCK)
    place = np.concatenate([rng.integers(BLOCK, size=(count, heads)) for _ in range(layers)], axis=1)
    turns = min(count, max(1, round(per_mask * count / examples)))
    blocks, load = np.empty((examples, turns), dtype=np.int64), np.zeros(count)
    for example in rng.permutation(examples):
        emptiest = np.lexsort((rng.random(count), load))[:turns]
        blocks[example] = np.sort(emptiest)
        load[emptiest] += 1
    return Masks(place, blocks)
