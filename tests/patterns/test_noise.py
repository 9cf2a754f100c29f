"""On maps without anything in them, nothing is said; on effects without a shape, no shape is.

Shares are over simulated atlases. A true rate of 5 % gives, over n runs, at most 0.05 + 1.645 * sqrt(0.05 * 0.95 / n)
with 95 % probability: that is the bound. The seeds are fixed, so the tests always see the same atlases.
"""

import numpy as np
import pytest

from headatlas.patterns import find_patterns
from tests.atlases import Known, from_examples, measured, write_atlas

SHAPE = (10, 8)
LAYER = np.arange(SHAPE[0])[:, None] + np.zeros(SHAPE)
EXAMPLES = (12, 24, 48)


def bound(runs: int) -> float:
    return 0.05 + 1.645 * np.sqrt(0.05 * 0.95 / runs)


def even(rng):
    """The same noise everywhere."""
    return [measured(np.zeros(SHAPE), 1.0, rng, EXAMPLES[i], task=f"T{i}") for i in range(3)]


def growing(rng):
    """Noise that grows with depth, by a factor of ten: values lie late, effects do not."""
    return [measured(np.zeros(SHAPE), np.exp(LAYER / 4), rng, EXAMPLES[i], task=f"T{i}") for i in range(3)]


def common(rng):
    """Noise that comes with the examples and hits many heads at once, seen by two methods on the same examples."""
    maps = []
    for i, examples in enumerate(EXAMPLES):
        loadings = rng.normal(size=(3, LAYER.size)) * np.exp(LAYER / 5).ravel()
        effects = rng.normal(size=(examples, 3)) @ loadings + rng.normal(size=(examples, LAYER.size))
        again = effects + 0.5 * rng.normal(size=effects.shape)
        maps.append(from_examples(effects, SHAPE, task=f"T{i}"))
        maps.append(from_examples(again, SHAPE, task=f"T{i}", method="ablate"))
    return maps


def errorless(rng):
    """A method that gives no errors and no p-values."""
    return [Known(rng.normal(size=SHAPE), task=f"T{i}") for i in range(3)]


@pytest.mark.parametrize(("noise", "runs"), [(even, 200), (growing, 120), (common, 80), (errorless, 60)])
def test_pure_noise_states_nothing_in_95_percent_of_atlases(tmp_path, noise, runs):
    stated = 0
    for run in range(runs):
        atlas = write_atlas(tmp_path / "atlas", noise(np.random.default_rng([5, run])), kv_heads=4)
        stated += any(finding.supported for finding in find_patterns(atlas, "attribute", seed=run, draws=120))
    assert stated / runs <= bound(runs)


def test_real_effects_without_a_shape_get_none(tmp_path):
    """Effects in random places, and noise that grows with depth and differs between tasks: no place may be named."""
    runs, stated = 40, 0
    shapes = {"depth", "spread", "layers", "hot spot", "neighbours", "kv groups", "depth difference", "shared heads"}
    for run in range(runs):
        rng = np.random.default_rng([6, run])
        maps = [
            measured(3 * rng.standard_t(2, SHAPE), np.exp(LAYER / 8) * (0.5, 2, 1)[i], rng, EXAMPLES[i], task=f"T{i}")
            for i in range(3)
        ]
        findings = find_patterns(write_atlas(tmp_path / "atlas", maps, kv_heads=4), seed=run, draws=120)
        tested = {finding.kind for finding in findings if finding.p is not None}
        assert shapes <= tested
        stated += any(finding.supported and finding.kind in shapes for finding in findings)
    assert stated / runs <= bound(runs)
