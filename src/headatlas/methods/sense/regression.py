"""From what examples lose under masks to the effect of every head: a sparse regression, and what it leaves over.

Heads are removed at random, so the mean loss of the masks that remove a head, less that of the others of the block, is
its effect without bias. It is noisy because of all other heads that are missing too. A sparse regression on other
blocks and other examples predicts what those do; only what it does not predict is left as noise. The effect stays
without bias however wrong the regression is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from headatlas.methods.sense.masks import BLOCK, Masks
from headatlas.stats import Array, Summary, clustered_moments, effective_groups, estimate

FOLDS = 4  # of blocks, and of groups of examples
PENALTIES = np.geomspace(1, 0.01, 16)  # of the smallest penalty that leaves no head in the regression


@dataclass(frozen=True)
class Part:
    """A fold of the blocks [block] and a fold of the examples [example]: what a regression is tried on."""

    blocks: NDArray[np.bool_]
    examples: NDArray[np.bool_]

    @property
    def other_examples(self) -> NDArray[np.bool_]:
        """What is fitted on; all examples where there is only one group of them."""
        return self.examples if self.examples.all() else ~self.examples

    def overlaps(self, other: Part) -> bool:
        """Whether two parts have blocks in common, or examples that could be held out."""
        shared = (self.examples & other.examples).any() and not self.examples.all()
        return bool(shared or (self.blocks & other.blocks).any())


@dataclass(frozen=True)
class Regression:
    """`effects` [example, turn, head] are estimates without bias, `sparse` [head] the coefficients of the regression on
    everything, and `r2` the share of the differences between masks of a block that regressions on other blocks and
    other examples predict, averaged over the examples of a mask."""

    effects: Array
    sparse: Array
    r2: float


def regress(masks: Masks, losses: Array, groups: Sequence[str], seed: int) -> Regression:
    """From losses [example, turn, mask], in the order of `masks.blocks` and of the masks of a block."""
    centred = losses - losses.mean(-1, keepdims=True)
    removed: Array = masks.removed.astype(float) - 1 / BLOCK  # [block, mask, head]
    parts = _parts(len(removed), groups, seed)
    paths, errors = _held_out_paths(masks, centred, removed, parts)
    effects, left = np.empty((*masks.blocks.shape, removed.shape[-1])), np.empty_like(centred)
    for part, path in zip(parts, paths, strict=True):
        elsewhere = [error for other, error in zip(parts, errors, strict=True) if not part.overlaps(other)]
        coefficients = path[:, np.sum(elsewhere, 0).argmin()]
        rows = part.blocks[masks.blocks] & part.examples[:, None]  # [example, turn]
        blocks = masks.blocks[rows]
        left[rows] = centred[rows] - removed[blocks] @ coefficients
        # In a block a head is removed once: its mask against the mean of the others.
        contrast = np.take_along_axis(left[rows], masks.place[blocks], axis=1) * BLOCK / (BLOCK - 1)
        effects[rows] = coefficients + contrast
    everywhere = np.ones(len(removed), dtype=bool), np.ones(len(losses), dtype=bool)
    (total, weight), (remaining, _) = (_by_mask(masks, values, *everywhere) for values in (centred, left))
    sparse = _lasso_path(removed, total, weight)[:, np.sum(errors, 0).argmin()]
    spread = float(np.square(total).sum())
    return Regression(effects, sparse, 1 - float(np.square(remaining).sum()) / spread if spread > 0 else 0.0)


def _held_out_paths(masks: Masks, centred: Array, removed: Array, parts: Sequence[Part]) -> tuple[list[Array], Array]:
    """For every part the coefficients [head, penalty] of regressions on other blocks and other examples, and their
    squared errors on the part [part, penalty]."""
    paths, errors = [], []
    for part in parts:
        path = _lasso_path(removed, *_by_mask(masks, centred, ~part.blocks, part.other_examples))
        mean, weight = _by_mask(masks, centred, part.blocks, part.examples)
        missed = mean[..., None] - np.einsum("bmh,hp->bmp", removed, path)
        paths.append(path)
        errors.append((weight[:, None, None] * missed**2).sum((0, 1)))
    return paths, np.array(errors)


def summarise_effects(masks: Masks, effects: Array, groups: Sequence[str]) -> Summary:
    """Mean effects with errors that are clustered twice: the examples of a block have their masks in common, and the
    turns of a group of examples have the group in common.

    Variances of both are added and what is in both is taken off once (Cameron, Gelbach and Miller 2011), but no less
    than the larger of the two remains. Skewness is not corrected for: simulated, p holds without, and heads that only
    work together, whose effects are large or zero, would seldom be discovered.
    """
    rows = effects.reshape(-1, effects.shape[-1])
    if len(set(groups)) < 2:
        return replace(Summary.bare(rows.mean(0)), groups=1)
    block = masks.blocks.ravel().astype(str)
    group = np.repeat(np.asarray(groups, dtype=str), masks.blocks.shape[1])
    both = np.char.add(np.char.add(block, "/"), group)
    of_blocks, of_groups, of_both = (clustered_moments(rows, labels.tolist())[0] for labels in (block, group, both))
    variance = np.maximum(np.maximum(of_blocks, of_groups), of_blocks + of_groups - of_both)
    df = min(effective_groups(block.tolist()), effective_groups(group.tolist())) - 1
    return estimate(rows.mean(0), np.sqrt(variance), np.full(rows.shape[1], df), len(set(groups)))


def _parts(blocks: int, groups: Sequence[str], seed: int) -> list[Part]:
    """Every fold of blocks with every fold of examples; groups are not cut."""
    rng = np.random.default_rng([seed, FOLDS])
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    of_block, of_example = rng.permutation(blocks) % FOLDS, (rng.permutation(codes.max() + 1) % FOLDS)[codes]
    return [Part(of_block == b, of_example == e) for b in np.unique(of_block) for e in np.unique(of_example)]


def _by_mask(
    masks: Masks, values: Array, of_blocks: NDArray[np.bool_], of_examples: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """Means over some examples [block, mask] of values [example, turn, mask], and how many examples each block has; 0
    in the blocks that are left out."""
    rows = of_blocks[masks.blocks] & of_examples[:, None]
    sums, weight = np.zeros((len(of_blocks), values.shape[-1])), np.zeros(len(of_blocks))
    np.add.at(sums, masks.blocks[rows], values[rows])
    np.add.at(weight, masks.blocks[rows], 1.0)
    return sums / np.maximum(weight, 1)[:, None], weight


def _lasso_path(removed: Array, mean: Array, weight: Array) -> Array:
    """Coefficients [head, penalty] of the mean losses of masks [block, mask] on the heads that they remove."""
    from sklearn.linear_model import lasso_path

    used = weight > 0
    if not mean[used].any():
        return np.zeros((removed.shape[-1], len(PENALTIES)))
    scale = np.sqrt(weight[used] / weight[used].mean())[:, None]
    x = (removed[used] * scale[..., None]).reshape(-1, removed.shape[-1])
    y = (mean[used] * scale).ravel()
    largest = np.abs(x.T @ y).max() / len(y)
    _, coefficients, _ = lasso_path(x, y, alphas=largest * PENALTIES, max_iter=5000)
    return np.asarray(coefficients, dtype=float)
