"""Effects that are known are recovered: sums of them, with noise, and where nothing has an effect."""

import numpy as np
import pytest

from headatlas.methods.sense.masks import draw_masks
from headatlas.methods.sense.regression import regress, summarise_effects
from headatlas.stats import q_values

SHAPE, EXAMPLES = (6, 8), 60
GROUPS = [str(i // 2) for i in range(EXAMPLES)]


def truth():
    """One layer with three heads that matter, another with one that hurts."""
    effects = np.zeros(SHAPE)
    effects[2, :3], effects[5, 7] = (2.0, 1.0, 0.5), -1.0
    return effects.ravel()


def simulated(effects, noise, masks=200, seed=0):
    """What examples lose: the effects of removed heads, each half as large or half again as large by example."""
    rng = np.random.default_rng(seed)
    drawn = draw_masks(SHAPE, EXAMPLES, masks, 12, seed)
    by_example = effects * rng.uniform(0.5, 1.5, (EXAMPLES, len(effects)))
    losses = np.einsum("etmh,eh->etm", drawn.removed[drawn.blocks].astype(float), by_example)
    return drawn, losses + noise * rng.normal(size=losses.shape)


@pytest.fixture(scope="module")
def fitted():
    masks, losses = simulated(truth(), noise=0.5)
    regression = regress(masks, losses, GROUPS, 0)
    return masks, losses, regression, summarise_effects(masks, regression.effects, GROUPS)


def test_known_effects_are_recovered_with_their_signs(fitted):
    _, _, regression, summary = fitted
    assert np.abs(summary.mean - truth()).max() < 0.3
    assert np.argsort(-summary.mean)[:3].tolist() == [16, 17, 18] and summary.mean.argmin() == 47
    assert (np.sign(summary.mean) == np.sign(truth()))[truth() != 0].all()
    assert 0.85 < regression.r2 < 1
    assert set(np.flatnonzero(np.abs(regression.sparse) > 0.2)) == {16, 17, 18, 47}


def test_intervals_cover_and_p_discovers(fitted):
    *_, summary = fitted
    covered = (summary.low <= truth()) & (truth() <= summary.high)
    assert covered.mean() >= 0.9
    discovered = q_values(summary.p_value) < 0.05
    assert set(np.flatnonzero(discovered)) == {16, 17, 18, 47}
    assert summary.groups == 30


def test_neighbours_of_strong_heads_are_given_nothing():
    """On average over many draws: in one layer three heads matter and five do not."""
    means = []
    for seed in range(20):
        masks, losses = simulated(truth(), 0.1, masks=80, seed=seed)
        means.append(regress(masks, losses, GROUPS, seed).effects.mean((0, 1)))
    error = np.mean(means, 0) - truth()
    assert np.abs(error).max() < 0.1
    assert abs(error[19:24].mean()) < 0.03


def test_what_differs_between_examples_cancels(fitted):
    masks, losses, regression, _ = fitted
    shifted = losses + 10 * np.arange(EXAMPLES)[:, None, None]
    assert regress(masks, shifted, GROUPS, 0).effects == pytest.approx(regression.effects, abs=1e-6)


def test_the_regression_makes_effects_more_precise(fitted):
    masks, losses, _, summary = fitted
    centred = losses - losses.mean(-1, keepdims=True)
    plain = np.take_along_axis(centred, masks.place[masks.blocks], -1) * 8 / 7
    assert np.median(summarise_effects(masks, plain, GROUPS).stderr) > 1.5 * np.median(summary.stderr)


def test_noise_has_neither_r2_nor_discoveries():
    masks, losses = simulated(np.zeros(48), noise=1.0)
    regression = regress(masks, losses, GROUPS, 0)
    summary = summarise_effects(masks, regression.effects, GROUPS)
    assert regression.r2 < 0.05
    assert not (q_values(summary.p_value) < 0.05).any()


def test_a_task_that_never_loses_anything_has_effects_of_zero():
    masks, losses = simulated(np.zeros(48), noise=0.0)
    regression = regress(masks, losses, GROUPS, 0)
    assert regression.r2 == 0 and not regression.effects.any() and not regression.sparse.any()
    assert (summarise_effects(masks, regression.effects, GROUPS).p_value == 1).all()


def test_one_group_of_examples_has_effects_without_intervals():
    masks, losses = simulated(truth(), noise=0.1)
    regression = regress(masks, losses, ["same"] * EXAMPLES, 0)
    summary = summarise_effects(masks, regression.effects, ["same"] * EXAMPLES)
    assert np.abs(summary.mean - truth()).max() < 0.3
    assert np.isnan(summary.low).all() and np.isnan(summary.p_value).all()


def test_few_turns_of_few_groups_leave_some_regressions_without_examples():
    drawn = draw_masks(SHAPE, 40, 40, 1, 0)
    losses = np.einsum("etmh,h->etm", drawn.removed[drawn.blocks].astype(float), truth())
    groups = ["alone"] + ["others"] * 39
    effects = regress(drawn, losses, groups, 0).effects
    assert np.isfinite(effects).all() and effects.shape == (40, 1, 48)
    assert effects.mean((0, 1)).argmax() == 16
