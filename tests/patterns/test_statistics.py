"""The statistics by hand, and the atlases that leave little to say."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from scipy import stats

from headatlas.errors import HeadAtlasError
from headatlas.patterns import find_patterns
from headatlas.patterns.agreement import agreement, stability
from headatlas.patterns.correction import holm, tail_share
from headatlas.patterns.denoise import effect_draws
from headatlas.patterns.kinds.sparsity import gini, heads_holding
from headatlas.patterns.layer_profile import centre_of_mass, layer_means, spread_of_mass
from headatlas.patterns.maps import read_maps
from headatlas.patterns.phrases import null_range
from headatlas.wording import decimal, signed
from tests.atlases import Known, measured, write_atlas


def test_gini_by_hand():
    assert gini(np.array([1.0, 1, 1, 1])) == pytest.approx(0)
    assert gini(np.array([0.0, 0, 0, 1])) == pytest.approx(0.75)
    assert gini(np.array([1.0, 2, 3])) == pytest.approx(2 / 9)
    normal = np.abs(np.random.default_rng(0).normal(size=100_000))
    assert gini(normal) == pytest.approx(np.sqrt(2) - 1, abs=0.005)  # of a half-normal distribution


def test_heads_that_hold_a_share_by_hand():
    size = np.array([1.0, 4, 2, 3])
    assert [heads_holding(size, share) for share in (0.4, 0.5, 0.7, 0.9, 1)] == [1, 2, 2, 3, 4]


def test_centre_and_spread_by_hand():
    assert centre_of_mass(np.array([0.5, 0, 0.5])) == 1
    assert spread_of_mass(np.array([0.5, 0, 0.5])) == 1
    assert centre_of_mass(np.array([0.25, 0.75])) == 0.75
    assert spread_of_mass(np.array([0.25, 0.75])) == pytest.approx(np.sqrt(0.1875))


def test_the_mean_of_a_layer_counts_measured_heads_only(tmp_path):
    values = np.array([[1.0, -3.0], [np.nan, np.nan], [4.0, np.nan]])
    (task_map,) = read_maps(write_atlas(tmp_path / "atlas", [Known(values)]), "attribute", "importance")
    np.testing.assert_allclose(layer_means(task_map, task_map.size), [2, np.nan, 4])


def test_corrections_by_hand():
    np.testing.assert_allclose(holm([0.01, 0.001, 0.5]), [2 * 0.02, 2 * 0.003, 1])
    assert tail_share(2.0, np.array([1.0, 2.0, 3.0])) == 3 / 4
    assert tail_share(9.0, np.array([1.0, 2.0, 3.0])) == 1 / 4


def test_effects_without_noise_have_the_size_of_the_effects():
    rng = np.random.default_rng(0)
    error = np.exp(rng.normal(size=4000))
    nothing = effect_draws(error * rng.normal(size=4000), error, rng)
    assert np.mean(np.abs(nothing) > 0.3 * error) < 0.05
    effect = 2 * rng.standard_t(5, size=4000)
    drawn = effect_draws(effect + error * rng.normal(size=4000), error, rng)
    quantiles = [0.05, 0.25, 0.75, 0.95]
    np.testing.assert_allclose(np.quantile(drawn, quantiles), np.quantile(effect, quantiles), rtol=0.15)


def test_agreement_by_hand(tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 6, 4))
    b[0, 0] = np.nan
    atlas = write_atlas(tmp_path / "atlas", [Known(a), Known(b, method="ablate")])
    (row,) = agreement(atlas, k=3).itertuples()
    both = np.isfinite(b)
    assert row.heads == 23 and row.k == 3
    assert row.correlation == pytest.approx(stats.spearmanr(a[both], b[both]).statistic)
    tops = [set(np.argsort(-np.abs(x[both]))[:3].tolist()) for x in (a, b)]
    assert row.kind == "methods" and row.shared == len(tops[0] & tops[1])
    assert row.expected == pytest.approx(9 / 23)


def test_agreement_of_seeds_by_hand(tmp_path):
    rng = np.random.default_rng(0)
    maps = [rng.normal(size=(6, 4)) for _ in range(3)]
    seeds = (0, 2, 5)
    atlas = write_atlas(tmp_path / "atlas", [Known(own, seed=seed) for own, seed in zip(maps, seeds, strict=True)])
    found = agreement(atlas, k=4)
    assert list(found["first"]) == ["attribute 0", "attribute 0", "attribute 2"]
    assert list(found["second"]) == ["attribute 2", "attribute 5", "attribute 5"] and set(found["kind"]) == {"seeds"}
    assert found["correlation"][1] == pytest.approx(stats.spearmanr(maps[0].ravel(), maps[2].ravel()).statistic)


def test_stability_knows_precise_maps_from_noisy_ones(tmp_path):
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


def test_the_same_seed_gives_the_same_findings_and_order_of_tasks_does_not_matter(tmp_path):
    rng = np.random.default_rng(0)
    maps = [measured(3 * rng.normal(size=(8, 6)), 1.0, rng, task=name) for name in "AB"]
    atlas = write_atlas(tmp_path / "atlas", maps)
    first = find_patterns(atlas, draws=100)
    assert find_patterns(atlas, draws=100) == first
    assert find_patterns(atlas, draws=100, seed=1) != first
    json.dumps([asdict(finding) for finding in first], allow_nan=False)
    turned = find_patterns(write_atlas(tmp_path / "turned", maps[::-1]), draws=100)
    own = {(f.kind, f.tasks): f.p for f in first if len(f.tasks) == 1}
    assert own.items() <= {(f.kind, f.tasks): f.p for f in turned}.items()


def strong(shape, seed=0, **more):
    rng = np.random.default_rng(seed)
    return measured(10 * rng.normal(size=shape), 1.0, rng, **more)


def test_unmeasured_heads_are_no_zeros(tmp_path):
    known = strong((10, 8))
    known.value[::2] = np.nan
    kinds = {f.kind: f for f in find_patterns(write_atlas(tmp_path / "atlas", [known]), draws=100)}
    assert "of 40 heads" in kinds["above null"].statement
    assert kinds["depth"].p > 0.05


@pytest.mark.parametrize(
    ("shape", "kind", "reason"),
    [
        ((1, 12), "depth, spread, layers", "one layer"),
        ((12, 1), "neighbours, kv groups", "every layer has one head"),
        ((1, 1), "sparsity, outliers, depth", "fewer than 8 heads"),
    ],
)
def test_small_maps_are_left_out_with_the_reason(tmp_path, shape, kind, reason):
    known = Known(np.full(shape, 5.0) + np.arange(np.prod(shape)).reshape(shape), np.ones(shape), np.full(shape, 1e-6))
    findings = find_patterns(write_atlas(tmp_path / "atlas", [known]), draws=100)
    (out,) = [f for f in findings if f.kind.startswith(kind)]
    assert reason in out.statement and out.p is None and not out.supported


def test_zero_maps_and_constant_maps_are_left_out(tmp_path):
    zero = Known(np.zeros((6, 4)), np.zeros((6, 4)), np.ones((6, 4)), task="Zero")
    same = Known(np.ones((6, 4)), task="Same")
    findings = find_patterns(write_atlas(tmp_path / "atlas", [zero, same]), draws=100)
    assert not any(finding.supported for finding in findings)
    assert any("Zero" in f.statement and "all values are zero" in f.statement for f in findings)
    assert any("Same" in f.statement and "all heads have the same value" in f.statement for f in findings)


def test_wrong_questions(tmp_path):
    atlas = write_atlas(tmp_path / "atlas", [strong((6, 4))])
    with pytest.raises(HeadAtlasError, match="method in this atlas 'probe'"):
        find_patterns(atlas, "probe")
    with pytest.raises(HeadAtlasError, match="measure of attribute 'interference'"):
        find_patterns(atlas, measure="interference")
    with pytest.raises(HeadAtlasError, match="`draws` is 5"):
        find_patterns(atlas, draws=5)


def test_a_small_shift_is_called_slight(tmp_path):
    shape = (40, 64)
    rng = np.random.default_rng(0)
    growing = 1 + 0.1 * np.arange(40)[:, None] / 39
    atlas = write_atlas(tmp_path / "atlas", [measured(10 * growing * rng.choice([-1, 1], shape), 1.0, rng)])
    (one,) = [finding for finding in find_patterns(atlas, draws=200) if finding.kind == "depth"]
    assert one.supported and 0 < one.effect < 0.02
    assert one.statement.startswith("Task lies slightly late: ")


def test_numbers_in_sentences_have_a_true_minus_and_no_negative_zero():
    assert [decimal(value, 2) for value in (-0.004, -0.126, 0.5)] == ["0.00", "\u22120.13", "0.50"]
    assert [signed(value, 2) for value in (-0.004, 0.004, -0.126, 0.5)] == ["0.00", "0.00", "\u22120.13", "+0.50"]
    assert null_range(np.array([-0.3, -0.001]), 1) == "\u22120.3 to 0.0"
