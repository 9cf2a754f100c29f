"""Many regressions at once, against scikit-learn doing them one by one."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from headatlas.methods.probe.multinomial import Rotated, Standard, fit

CLASSES = 3


def problem(n: int, dim: int, problems: int = 2, labellings: int = 2, seed: int = 0):
    """Centred features of unequal spread, and labels that follow some of them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(problems, n, dim)) * np.linspace(0.5, 1.5, dim)
    x -= x.mean(1, keepdims=True)
    labels = np.empty((labellings, n), dtype=int)
    for i in range(labellings):
        scores = x[0] @ rng.normal(size=(dim, CLASSES)) / np.sqrt(dim) + rng.gumbel(size=(n, CLASSES))
        labels[i] = scores.argmax(1)
    return torch.tensor(x, dtype=torch.float32), labels


def one_hot(labels: np.ndarray) -> torch.Tensor:
    return torch.nn.functional.one_hot(torch.from_numpy(labels), CLASSES).float()


def reference(x: np.ndarray, labels: np.ndarray, penalty: float):
    """Weights [dim, class], and intercepts less their mean: a constant on all classes changes nothing."""
    fitted = LogisticRegression(C=1 / (len(x) * penalty), tol=1e-8, max_iter=5000).fit(x.astype(np.float64), labels)
    assert len(fitted.classes_) == CLASSES
    return fitted.coef_.T, fitted.intercept_ - fitted.intercept_.mean()


def centred(bias: torch.Tensor) -> torch.Tensor:
    return bias - bias.mean(-1, keepdim=True)


@pytest.mark.parametrize(("n", "dim"), [(60, 8), (30, 50), (40, 40)])
@pytest.mark.parametrize("penalty", [0.02, 0.3])
def test_every_problem_and_labelling_gets_the_weights_of_scikit_learn(n, dim, penalty):
    x, labels = problem(n, dim)
    weights, bias = fit(Rotated.of(x), one_hot(labels), penalty, tolerance=1e-5)
    assert weights.shape == (2, 2, dim, CLASSES)
    assert bias.shape == (2, 2, CLASSES)
    for p in range(2):
        for labelling in range(2):
            expected, intercept = reference(x[p].numpy(), labels[labelling], penalty)
            assert np.abs(expected).max() > 0.05, "there must be something to find"
            np.testing.assert_allclose(weights[p, labelling], expected, atol=1e-3)
            np.testing.assert_allclose(centred(bias)[p, labelling], intercept, atol=1e-3)


def test_the_usual_tolerance_is_within_a_hundredth_of_the_largest_weight():
    x, labels = problem(40, 100, problems=1, labellings=6)
    weights, _ = fit(Rotated.of(x), one_hot(labels), 0.1)
    for labelling in range(6):
        expected, _ = reference(x[0].numpy(), labels[labelling], 0.1)
        np.testing.assert_allclose(weights[0, labelling], expected, atol=0.01 * np.abs(expected).max())


def test_features_that_are_not_centred_are_fitted_as_well():
    x, labels = problem(50, 10, problems=3, labellings=4)
    x = x + 3
    weights, _ = fit(Rotated.of(x), one_hot(labels), 0.05)
    for p in range(3):
        for labelling in range(4):
            expected, _ = reference(x[p].numpy(), labels[labelling], 0.05)
            np.testing.assert_allclose(weights[p, labelling], expected, atol=5e-3)


@pytest.mark.parametrize(("n", "dim"), [(60, 8), (30, 50)])
def test_examples_that_weigh_nothing_are_left_out(n, dim):
    x, labels = problem(n, dim, problems=1, labellings=1)
    used = torch.ones(2, n)
    used[1, ::3] = 0
    weights, bias = fit(Rotated.of(x), one_hot(np.repeat(labels, 2, 0)), 0.05, used, tolerance=1e-5)
    for row, used_rows in enumerate(used.bool().numpy()):
        expected, intercept = reference(x[0].numpy()[used_rows], labels[0][used_rows], 0.05)
        np.testing.assert_allclose(weights[0, row], expected, atol=1e-3)
        np.testing.assert_allclose(centred(bias)[0, row], intercept, atol=1e-3)
    assert (weights[0, 0] - weights[0, 1]).abs().max() > 0.01


def test_problems_and_labellings_do_not_influence_each_other():
    x, labels = problem(50, 10, problems=3, labellings=4)
    together, _ = fit(Rotated.of(x), one_hot(labels), 0.05, tolerance=1e-6)
    alone, _ = fit(Rotated.of(x[1:2]), one_hot(labels[2:3]), 0.05, tolerance=1e-6)
    torch.testing.assert_close(together[1, 2], alone[0, 0], atol=1e-4, rtol=0)


def test_a_free_intercept_gives_the_shares_where_features_say_nothing():
    x, labels = torch.zeros(1, 40, 3), np.array([0] * 20 + [1] * 15 + [2] * 5)
    weights, bias = fit(Rotated.of(x), one_hot(labels[None]), 0.1, tolerance=1e-6)
    assert weights.abs().max() == 0
    np.testing.assert_allclose(bias[0, 0].softmax(-1), [0.5, 0.375, 0.125], atol=1e-4)


@pytest.mark.parametrize("n", [40, 6])
def test_features_that_never_vary_do_not_break_the_fit(n):
    x, labels = problem(n, 8, problems=1, labellings=1, seed=3)
    labels[0, :CLASSES] = range(CLASSES)
    x[..., 2] = 7.0
    x[..., 5] = 0.0
    standard = Standard.of(x)
    scaled = standard(x)
    assert (scaled[..., [2, 5]] == 0).all()
    varying = [0, 1, 3, 4, 6, 7]
    torch.testing.assert_close(scaled[..., varying].mean(1), torch.zeros(1, 6), atol=1e-5, rtol=0)
    torch.testing.assert_close(scaled[..., varying].std(1), torch.ones(1, 6), atol=1e-5, rtol=0)
    weights, _ = fit(Rotated.of(scaled), one_hot(labels), 0.05)
    expected, _ = reference(scaled[0].numpy(), labels[0], 0.05)
    np.testing.assert_allclose(weights[0, 0], expected, atol=1e-3)
    assert weights[0, 0, [2, 5]].abs().max() < 1e-6
    other = standard(torch.full((1, 2, 8), 1e6))  # and new examples on which they vary change no logit
    assert (other[..., [2, 5]] == 0).all()


@pytest.mark.parametrize(("n", "dim"), [(30, 7), (7, 30)])
def test_a_rotation_loses_nothing(n, dim):
    x, _ = problem(n, dim)
    rotated = Rotated.of(x)
    torch.testing.assert_close(rotated.values @ rotated.basis.mT, x, atol=1e-4, rtol=0)
    torch.testing.assert_close(rotated.values.square().mean(1), rotated.power, atol=1e-4, rtol=1e-3)
