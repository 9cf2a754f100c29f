import numpy as np
import pytest

from headatlas.patterns.kinds.sparsity import gini, heads_holding
from tests.atlases import measured
from tests.patterns.injected import SHAPE, effects, supported


def test_gini_by_hand():
    assert gini(np.array([1.0, 1, 1, 1])) == pytest.approx(0)
    assert gini(np.array([0.0, 0, 0, 1])) == pytest.approx(0.75)
    assert gini(np.array([1.0, 2, 3])) == pytest.approx(2 / 9)
    normal = np.abs(np.random.default_rng(0).normal(size=100_000))
    assert gini(normal) == pytest.approx(np.sqrt(2) - 1, abs=0.005)  # of a half-normal distribution


def test_heads_that_hold_a_share_by_hand():
    size = np.array([1.0, 4, 2, 3])
    assert [heads_holding(size, share) for share in (0.4, 0.5, 0.7, 0.9, 1)] == [1, 2, 2, 3, 4]


def test_few_large_effects_are_sparse(tmp_path, rng):
    effect = effects(rng, rng.random(SHAPE) < 0.05, size=30)
    (finding,) = supported(tmp_path, [measured(effect, 1.0, rng)], "sparsity")
    assert finding.value > 0.6 and finding.effect > 0.15
    assert "of 240 heads hold half of the mass" in finding.statement


def test_a_dense_map_is_not_called_sparse(tmp_path, rng):
    assert supported(tmp_path, [measured(6 * rng.normal(size=SHAPE), 1.0, rng)], "sparsity") == []
