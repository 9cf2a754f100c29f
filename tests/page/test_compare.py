import numpy as np
import pytest

from headatlas.page.compare import agreement, compare
from tests.page import synthetic


def test_a_map_agrees_with_itself_whatever_its_signs():
    rng = np.random.default_rng(0)
    values = rng.normal(size=200)
    heads, correlation, k, shared, expected, p = compare(values, -values)
    assert (heads, k, shared) == (200, 10, 10)
    assert correlation == pytest.approx(1) and expected == pytest.approx(0.5) and p < 1e-12


def test_unrelated_maps_share_what_chance_gives():
    rng = np.random.default_rng(0)
    found = [compare(rng.normal(size=300), rng.normal(size=300)) for _ in range(300)]
    assert np.mean([row[3] for row in found]) == pytest.approx(found[0][4], abs=0.15)
    assert np.mean([row[1] for row in found]) == pytest.approx(0, abs=0.02)
    assert np.mean([row[5] <= 0.05 for row in found]) <= 0.06


def test_only_heads_that_both_measured_count():
    first, second = np.arange(40.0), np.arange(40.0)
    first[:10], second[30:] = np.nan, np.nan
    assert compare(first, second)[:2] == (20, pytest.approx(1))


def test_constant_maps_have_no_correlation():
    assert np.isnan(compare(np.zeros(20), np.arange(20.0))[1])


def test_every_pair_of_methods_and_of_seeds(tmp_path):
    found = agreement(synthetic.write_atlas(tmp_path / "a", 12, 8, seeds=3))
    methods, seeds = found[found["kind"] == "methods"], found[found["kind"] == "seeds"]
    assert len(methods) == 6 * 7 and len(seeds) == 2 * 3 * 7  # pairs of four methods; two methods with seeds
    assert set(seeds["first"]) == {"probe 0", "probe 1", "gate 0", "gate 1"}
    partial = methods[(methods["first"] == "attribute") & (methods["second"] == "ablate")]
    assert (partial["heads"] == 19).all()
