import numpy as np
import pytest
from scipy import stats

from headatlas.patterns.agreement import agreement, stability
from tests.atlases import Known, measured, write_atlas


def test_agreement_of_methods_by_hand(tmp_path):
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 6, 4))
    second[0, 0] = np.nan
    atlas = write_atlas(tmp_path / "atlas", [Known(first), Known(second, method="ablate")])
    (row,) = agreement(atlas, k=3).itertuples()
    both = np.isfinite(second)
    assert row.heads == 23 and row.k == 3
    assert row.correlation == pytest.approx(stats.spearmanr(first[both], second[both]).statistic)
    tops = [set(np.argsort(-value[both])[:3].tolist()) for value in (first, second)]
    assert row.kind == "methods" and row.shared == len(tops[0] & tops[1])
    assert row.expected == pytest.approx(9 / 23)


def test_top_heads_are_those_with_the_largest_values(tmp_path):
    """A head that hurts in one map and helps in the other is not among the top of both, however large."""
    first = np.arange(24.0).reshape(6, 4)
    first[0, 0] = -100.0
    second = first.copy()
    second[0, 0] = 100.0
    atlas = write_atlas(tmp_path / "atlas", [Known(first), Known(second, method="ablate")])
    (row,) = agreement(atlas, k=3).itertuples()
    assert row.shared == 2
    assert row.p_value == pytest.approx(stats.hypergeom.sf(1, 24, 3, 3))


def test_agreement_of_seeds_by_hand(tmp_path):
    rng = np.random.default_rng(0)
    values = [rng.normal(size=(6, 4)) for _ in range(3)]
    maps = [Known(value, seed=seed) for value, seed in zip(values, (0, 2, 5), strict=True)]
    table = agreement(write_atlas(tmp_path / "atlas", maps), k=4)
    assert list(table["first"]) == ["attribute 0", "attribute 0", "attribute 2"]
    assert list(table["second"]) == ["attribute 2", "attribute 5", "attribute 5"]
    assert set(table["kind"]) == {"seeds"}
    assert table["correlation"][1] == pytest.approx(stats.spearmanr(values[0].ravel(), values[2].ravel()).statistic)


def test_stability_tells_precise_maps_from_noisy_ones(tmp_path):
    rng = np.random.default_rng(0)
    effect = rng.normal(size=(12, 8))
    maps = [measured(effect, noise, rng, 48, task=task) for task, noise in (("sharp", 0.05), ("fair", 1.0))]
    maps.append(measured(effect, 0.05, rng, 48, task="sharp", seed=1))
    table = stability(write_atlas(tmp_path / "atlas", maps)).set_index("task")
    assert table.loc["sharp", "repeat"] > 0.97 and table.loc["sharp", "between_seeds"] > 0.97
    assert table.loc["sharp", "seeds"] == 2 and table.loc["fair", "seeds"] == 1
    assert 0.3 < table.loc["fair", "repeat"] < 0.7  # 0.5 in expectation
    assert table.loc["fair", "half"] < table.loc["fair", "repeat"]
    assert np.isnan(table.loc["fair", "between_seeds"])
    assert table.loc["fair", "repeat_overlap"] + 2 < table.loc["sharp", "repeat_overlap"] <= 10


def test_a_repetition_finds_the_heads_that_help_again(tmp_path):
    """Five heads help, ten hurt even more: all of the top five by value come back, those by size would change."""
    value = np.zeros((6, 4))
    value.ravel()[:5], value.ravel()[5:15] = 50.0, -60.0
    known = Known(value, np.ones((6, 4)), np.full((6, 4), 0.5))
    (row,) = stability(write_atlas(tmp_path / "atlas", [known]), k=5).itertuples()
    assert row.repeat_overlap == 5
