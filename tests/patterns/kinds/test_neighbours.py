import numpy as np
import pytest

from headatlas.patterns import find_patterns
from tests.atlases import measured, write_atlas
from tests.patterns.injected import HEADS, LAYERS, SHAPE, supported


def test_neighbours(tmp_path, rng):
    pairs = np.repeat(rng.random((LAYERS, HEADS // 2)) < 0.4, 2, axis=1)
    (finding,) = supported(tmp_path, [measured(np.where(pairs, 8.0, 1.0), 1.0, rng)], "neighbours")
    assert finding.effect > 0 and "Neighbouring heads are alike" in finding.statement


def test_kv_groups(tmp_path, rng):
    groups = np.repeat(rng.random((LAYERS, 4)) < 0.4, 3, axis=1)
    maps = [measured(np.where(groups, 8.0, 1.0), 1.0, rng)]
    (finding,) = supported(tmp_path, maps, "kv groups", kv_heads=4)
    assert finding.effect > 0 and "Heads that share keys and values are alike" in finding.statement
    assert supported(tmp_path, maps, "neighbours", kv_heads=4) == []  # pairs of one group are no neighbours


@pytest.mark.parametrize(
    ("kv_heads", "kinds", "reason"),
    [
        (HEADS, "kv groups", "no two heads share keys and values"),
        (1, "neighbours, kv groups", "all heads of a layer share keys and values"),
    ],
)
def test_models_without_groups_to_compare(tmp_path, rng, kv_heads, kinds, reason):
    atlas = write_atlas(tmp_path / "atlas", [measured(6 * rng.normal(size=SHAPE), 1.0, rng)], kv_heads=kv_heads)
    (finding,) = [finding for finding in find_patterns(atlas, draws=100) if "kv groups" in finding.kind]
    assert finding.statement == f"Not tested for Task: {kinds}. Reason: {reason}."
