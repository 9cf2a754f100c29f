"""The optimiser on objectives whose minimum is known."""

import numpy as np
import pytest
import torch

from headatlas.errors import HeadAtlasError, UsageError
from headatlas.methods.gate.descent import descend
from headatlas.methods.gate.settings import FitSettings
from headatlas.progress import CellsCourse

PLAIN = {"gates": "paper", "schedule": "constant", "project": False, "patience": 1000}
SOFT = {"gates": "paper"}


class Bowl:
    """Squared distance of the gates to `target` [layer, head]; held-out values may be given instead."""

    examples = 8

    def __init__(self, target, held=None, broken_at=None):
        self.target, self.given, self.broken_at, self.calls = torch.as_tensor(target).double(), held, broken_at, 0

    def train(self, draw, step):
        away = draw(self.examples) - self.target
        value = away.square().sum((2, 3)).mean(1)
        if step == self.broken_at:
            value = value * float("nan")
        return value, 2 * away.mean(1)

    def held(self, gates):
        self.calls += 1
        if self.given is not None:
            return torch.full((len(gates),), self.given[min(self.calls, len(self.given)) - 1], dtype=torch.float64)
        return (gates - self.target).square().sum((1, 2))


def starts(*seeds, shape=(2, 3)):
    return torch.stack([torch.from_numpy(FitSettings().start(shape, seed)) for seed in seeds])


def test_it_takes_the_steps_of_torch_adam_with_a_clipped_gradient():
    target = torch.rand(2, 3, generator=torch.Generator().manual_seed(1)).double()
    (fit,) = descend(
        Bowl(target), starts(0), [0.3], FitSettings(steps=12, check=12, max_norm=0.05, **PLAIN), ["x"], [0]
    )
    logits = starts(0)[0].clone().requires_grad_()
    adam = torch.optim.Adam([logits], lr=1.0)
    for _ in range(12):
        loss = (torch.sigmoid(logits) - target).square().sum() - 0.3 * logits.clamp(-4, 4).mean()
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([logits], 0.05)
        adam.step()
    np.testing.assert_allclose(fit.logits, logits.detach(), atol=1e-6)


def test_it_says_how_far_it_is():
    moved: list[float] = []
    with CellsCourse(lambda tokens, cells=1: moved.append(tokens), 40.0).followed():
        descend(Bowl([[0.5] * 3] * 2), starts(0), [0.3], FitSettings(steps=4, check=4, **PLAIN), ["x"], [0])
    assert moved == [10.0] * 4


@pytest.mark.parametrize("kind", ["binary", "paper"])
def test_fits_together_are_fits_alone_even_when_they_end_at_different_times(kind):
    bowl = Bowl([[0.2, 0.9, 0.5]] * 2)
    settings = FitSettings(gates=kind, steps=60, check=2, patience=1, tolerance=1e-3, schedule="constant")
    together = descend(bowl, starts(0, 1, 2), [0.0, 0.1, -0.1], settings, ["a", "b", "c"], [0, 1, 2])
    assert len({len(fit.steps) for fit in together}) > 1
    for i, (seed, penalty) in enumerate([(0, 0.0), (1, 0.1), (2, -0.1)]):
        (alone,) = descend(bowl, starts(seed), [penalty], settings, ["a"], [seed])
        np.testing.assert_allclose(together[i].logits, alone.logits, atol=1e-9)
        np.testing.assert_allclose(together[i].steps, alone.steps, atol=1e-9)
        np.testing.assert_allclose(together[i].looks, alone.looks, atol=1e-9)


def test_it_ends_when_held_out_examples_no_longer_gain_and_keeps_the_best():
    held = [5.0, 3.0, 4.0, 3.5, 9.0, 9.0]
    settings = FitSettings(steps=100, check=2, patience=2, schedule="constant", **SOFT)
    (fit,) = descend(Bowl(np.full((2, 3), 0.5), held), starts(0), [0.0], settings, ["x"], [0])
    assert len(fit.steps) == 8  # looks after 2, 4, 6 and 8 steps; two misses in a row
    assert (fit.best_step, fit.best) == (4, 3.0)
    (cut,) = descend(Bowl(np.full((2, 3), 0.5)), starts(0), [0.0], FitSettings(steps=4, check=4, **PLAIN), ["x"], [0])
    np.testing.assert_allclose(fit.logits, cut.logits, atol=1e-12)


def test_a_cooldown_begins_when_gains_end_and_lowers_the_rate_to_zero():
    settings = FitSettings(steps=100, check=2, patience=1, schedule="cooldown", cooldown=5)
    (fit,) = descend(Bowl(np.full((2, 3), 0.5), [1.0]), starts(0), [0.0], settings, ["x"], [0])
    assert (fit.cooling_since, len(fit.steps)) == (4, 9)
    assert fit.looks[-1][0] == 9
    (short,) = descend(
        Bowl(np.full((2, 3), 0.5)), starts(0), [0.0], FitSettings(steps=12, schedule="cooldown"), ["x"], [0]
    )
    assert (short.cooling_since, len(short.steps)) == (4, 12)


def test_logits_stay_within_the_clamp_unless_told_otherwise():
    bowl = Bowl(np.ones((2, 3)))
    (bound,) = descend(bowl, starts(0), [0.1], FitSettings(steps=40, **SOFT), ["x"], [0])
    assert bound.logits.max() <= 4
    (free,) = descend(bowl, starts(0), [0.1], FitSettings(steps=40, project=False, **SOFT), ["x"], [0])
    assert free.logits.max() > 4


def test_divergence_names_the_fit_and_the_step():
    with pytest.raises(HeadAtlasError, match=r"fit of second diverged: its objective was nan at step 3\. Nothing"):
        bowl = Bowl(np.ones((2, 3)), broken_at=3)
        descend(_OnlySecond(bowl), starts(0, 1), [0.0, 0.0], FitSettings(), ["first", "second"], [0, 1])
    with pytest.raises(HeadAtlasError, match="its objective was inf at step 6"):
        descend(Bowl(np.ones((2, 3)), held=[float("inf")]), starts(0), [0.0], FitSettings(), ["x"], [0])


class _OnlySecond:
    def __init__(self, bowl):
        self.bowl, self.held = bowl, bowl.held

    def train(self, draw, step):
        value, gradient = self.bowl.train(draw, step)
        value[0] = 1.0
        return value, gradient


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seeds": 0}, "seeds = 0 was asked for; gates need at least 1"),
        ({"steps": 0}, "steps = 0 was asked for"),
        ({"learning_rate": 0.0}, "learning_rate = 0.0 was asked for; it must be above 0"),
        ({"clamp": float("nan")}, "clamp = nan was asked for"),
        ({"noise": 0.0}, "noise = 0.0 was asked for; it must be above 0"),
        ({"gates": "binry"}, r"Unknown kind of gates 'binry'. Did you mean 'binary'\?"),
        ({"schedule": "cosin"}, r"Unknown schedule 'cosin'. Did you mean 'cosine'\?"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, message):
    with pytest.raises(UsageError, match=message):
        FitSettings(**settings)
