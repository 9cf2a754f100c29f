"""Certified effects: unbiased whatever attribution says, and intervals that cover."""

import numpy as np
import pytest

from headatlas.methods.certify import certify, certify_all, draw_examples, moderated_variance
from headatlas.stats import summarise


def world(rng, examples: int = 3000, heads: int = 60, error: float = 0.1):
    """A population of skewed effects in groups of three, and attributions with a few large errors."""
    scale = np.exp(rng.normal(-3, 1.5, heads)) * np.where(rng.random(heads) < 0.7, 1, -1)
    groups = np.arange(examples) // 3
    spread = np.exp(rng.normal(0, 0.5, (examples // 3, heads)))[groups] * np.exp(rng.normal(0, 0.5, (examples, 1)))
    exact = scale * spread
    wrong = (rng.random(exact.shape) < 0.03) * rng.normal(0, 0.8, exact.shape)
    return exact * (1 + error * rng.normal(size=exact.shape) + wrong), exact, groups


def sample(rng, population, groups: int):
    attributed, exact, names = population
    chosen = rng.choice(names.max() + 1, groups)
    rows = np.concatenate([np.flatnonzero(names == name) for name in chosen])
    return attributed[rows], exact[rows], [str(i) for i in range(groups) for _ in range(3)]


def costs(rng, effects):
    return rng.integers(1, 25, len(effects))


@pytest.mark.parametrize("groups", [12, 30])
def test_intervals_from_a_few_exact_examples_cover_and_are_hardly_wider(groups):
    rng = np.random.default_rng(0)
    population = world(rng)
    truth = population[1].mean(0)
    largest = np.argsort(-np.abs(truth))[:15]
    covered, covered_largest, widths = [], [], []
    for _ in range(150):
        attributed, exact, names = sample(rng, population, groups)
        draw = draw_examples(attributed, costs(rng, attributed), 8, rng)
        found = certify(attributed, exact, draw, names).summary
        everything = summarise(exact, names)
        inside = (found.low <= truth) & (truth <= found.high)
        covered.append(inside.mean())
        covered_largest.append(inside[largest].mean())
        widths.append(np.median((found.high - found.low) / (everything.high - everything.low)))
    assert 0.925 <= np.mean(covered) <= 0.975
    assert 0.915 <= np.mean(covered_largest) <= 0.985
    assert np.median(widths) < 1.3


def test_the_value_has_no_bias_even_where_attribution_has_the_wrong_sign():
    rng = np.random.default_rng(1)
    effects = np.abs(rng.normal(2, 1, (40, 5)))
    attributed = -0.5 * effects + rng.normal(0, 0.1, effects.shape)
    names = [str(i // 2) for i in range(40)]
    values = []
    for _ in range(2000):
        draw = draw_examples(attributed, costs(rng, attributed), 8, rng)
        values.append(certify(attributed, effects, draw, names).summary.mean)
    errors = np.std(values, axis=0) / np.sqrt(len(values))
    assert (np.abs(np.mean(values, axis=0) - effects.mean(0)) < 4 * errors).all()
    single = certify(attributed, effects, draw, names)
    assert (single.summary.mean > 0).all() and (single.same_sign < 0.2).all()


def test_perfect_attribution_gives_the_interval_of_everything_exact():
    rng = np.random.default_rng(2)
    effects = rng.normal(1, 1, (60, 30))
    names = [str(i // 2) for i in range(60)]
    draw = draw_examples(effects, costs(rng, effects), 6, rng)
    found, everything = certify(effects, effects, draw, names), summarise(effects, names)
    np.testing.assert_allclose(found.summary.mean, everything.mean, atol=1e-9)
    np.testing.assert_allclose(found.summary.stderr, everything.stderr, rtol=0.05)
    np.testing.assert_allclose(found.variance_left, 0, atol=1e-12)


def test_everything_exact_is_the_plain_summary():
    effects = np.random.default_rng(3).normal(size=(20, 4))
    names = [str(i // 2) for i in range(20)]
    certified = certify_all(effects, names)
    np.testing.assert_array_equal(certified.summary.mean, summarise(effects, names).mean)
    assert (certified.exact == 20).all()


def test_examples_are_drawn_in_proportion_to_size_but_none_is_out_of_reach():
    attributed = np.ones((50, 3))
    attributed[7] = 30
    draw = draw_examples(attributed, np.ones(50), 4000, np.random.default_rng(0))
    counts = np.bincount(draw.turns, minlength=50)
    assert counts[7] > 8 * np.median(counts)
    assert counts.min() > 0
    # Weighted means are unbiased for the mean over all examples.
    values = np.arange(50.0)
    drawn = values[draw.turns]
    assert (draw.weights * drawn).mean() == pytest.approx(values.mean(), rel=0.05)


def test_dear_examples_are_drawn_less_often_but_no_weight_is_large():
    attributed, cost = np.ones((300, 3)), np.repeat([1.0, 4.0, 1e6], 100)
    chance = draw_examples(attributed, cost, 4, np.random.default_rng(0)).chance * 300
    evenly = 1 / 3
    assert chance[0] - evenly == pytest.approx(4 * (chance[100] - evenly))
    assert chance[200] == pytest.approx(evenly, rel=1e-4) and 1 / chance.min() <= 3


def test_drawing_by_cost_has_less_noise_for_the_same_cost():
    rng = np.random.default_rng(6)
    attributed = np.ones((400, 40))
    exact, cost = attributed + rng.normal(size=attributed.shape), np.repeat([1.0, 16.0], 200)

    def noise_times_cost(assumed):
        draw = draw_examples(attributed, assumed, 20_000, np.random.default_rng(0))
        terms = draw.weights[:, None] * (exact - attributed)[draw.turns]
        return terms.var(0).mean() * cost[draw.turns].mean()

    # Chances by the root of the cost would be the best there are, and have (1 + 4)^2 / 4 / (17 / 2).
    assert noise_times_cost(cost) == pytest.approx(25 / 34 * noise_times_cost(np.ones(400)), rel=0.05)


def test_the_variance_that_attribution_leaves_is_known_whatever_was_drawn():
    rng = np.random.default_rng(7)
    exact = 10 + rng.normal(size=(100, 20))
    attributed, names = exact + rng.normal(0, 0.5, exact.shape), [str(i) for i in range(100)]
    left = [
        certify(attributed, exact, draw_examples(attributed, costs(rng, exact), 8, rng), names).variance_left
        for _ in range(50)
    ]
    assert (np.array(left) > 0).all()
    assert np.median(left) == pytest.approx(0.25, rel=0.3)


def test_only_drawn_examples_are_read():
    rng = np.random.default_rng(5)
    effects = rng.normal(1, 1, (60, 30))
    attributed = effects + rng.normal(0, 0.3, effects.shape)
    names = [str(i // 2) for i in range(60)]
    draw = draw_examples(attributed, costs(rng, attributed), 6, rng)
    unread = effects.copy()
    unread[np.setdiff1d(np.arange(60), draw.examples)] = np.nan
    found, expected = (certify(attributed, exact, draw, names) for exact in (unread, effects))
    np.testing.assert_array_equal(found.summary.low, expected.summary.low)
    assert (found.exact == len(draw.examples)).all()


def test_examples_that_were_looked_at_count_with_their_effects_and_leave_no_bias():
    """Attribution knows nothing of one large effect, which is looked at; other draws never add to it."""
    rng = np.random.default_rng(8)
    effects = rng.exponential(1, (40, 5))
    attributed = 0.5 * effects + rng.normal(0, 0.3, effects.shape)
    effects[3] += 20
    looked = np.zeros(effects.shape, dtype=bool)
    looked[3] = looked[7, :2] = True
    names = [str(i) for i in range(40)]
    values, blind = [], []
    for _ in range(2000):
        draw = draw_examples(attributed, costs(rng, attributed), 8, rng)
        unread = np.where(looked, effects, np.nan)
        unread[draw.examples] = effects[draw.examples]
        values.append(certify(attributed, unread, draw, names, looked).summary.mean)
        blind.append(certify(attributed, effects, draw, names).summary.mean)
    noise = np.std(values, 0) / np.sqrt(len(values))
    assert (np.abs(np.mean(values, 0) - effects.mean(0)) < 4 * noise).all()
    assert (np.std(values, 0) < 0.5 * np.std(blind, 0)).all()


def test_where_every_example_was_looked_at_the_draw_adds_nothing():
    rng = np.random.default_rng(9)
    effects = rng.normal(1, 1, (30, 20))
    attributed, names = rng.normal(size=effects.shape), [str(i // 2) for i in range(30)]
    draw = draw_examples(attributed, costs(rng, attributed), 6, rng)
    found = certify(attributed, effects, draw, names, np.ones(effects.shape, dtype=bool))
    everything = certify_all(effects, names)
    for name in ("mean", "stderr", "low", "high"):
        np.testing.assert_allclose(getattr(found.summary, name), getattr(everything.summary, name), rtol=1e-6)
    assert (found.exact == 30).all()


def test_variances_borrow_from_heads_of_the_same_scale():
    rng = np.random.default_rng(4)
    scale = np.exp(rng.normal(0, 2, 400))
    variance = scale**2 * rng.chisquare(5, 400) / 5
    moderated = moderated_variance(variance, 5, scale)
    assert moderated.df > 20, "the trend explains all, so heads lend each other much"
    errors = [np.abs(np.log(v / scale**2)).mean() for v in (variance, moderated.variance)]
    assert errors[1] < 0.5 * errors[0]
