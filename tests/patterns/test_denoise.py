import numpy as np

from headatlas.patterns.denoise import effect_draws


def test_effects_without_noise_have_the_size_of_the_effects():
    rng = np.random.default_rng(0)
    error = np.exp(rng.normal(size=4000))
    nothing = effect_draws(error * rng.normal(size=4000), error, rng)
    assert np.mean(np.abs(nothing) > 0.3 * error) < 0.05
    effect = 2 * rng.standard_t(5, size=4000)
    drawn = effect_draws(effect + error * rng.normal(size=4000), error, rng)
    quantiles = [0.05, 0.25, 0.75, 0.95]
    np.testing.assert_allclose(np.quantile(drawn, quantiles), np.quantile(effect, quantiles), rtol=0.15)


def test_values_without_errors_are_taken_as_they_are():
    value = np.array([1.0, -2.0, 0.5])
    drawn = effect_draws(value, np.zeros(3), np.random.default_rng(0))
    assert (drawn == value.astype(np.float32)).all() and drawn.shape[1] == 3
