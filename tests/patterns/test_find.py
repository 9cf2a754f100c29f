"""Order, reproducibility, wrong questions, and atlases that leave little to say."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from headatlas.errors import HeadAtlasError
from headatlas.patterns import find_patterns
from tests.atlases import Known, measured, write_atlas


def strong(shape, seed=0, **more):
    rng = np.random.default_rng(seed)
    return measured(10 * rng.normal(size=shape), 1.0, rng, **more)


def test_the_same_seed_gives_the_same_findings_and_order_of_tasks_does_not_matter(tmp_path):
    rng = np.random.default_rng(0)
    maps = [measured(3 * rng.normal(size=(8, 6)), 1.0, rng, task=name) for name in "AB"]
    atlas = write_atlas(tmp_path / "atlas", maps)
    first = find_patterns(atlas, draws=100)
    assert find_patterns(atlas, draws=100) == first
    assert find_patterns(atlas, draws=100, seed=1) != first
    json.dumps([asdict(finding) for finding in first], allow_nan=False)
    turned = find_patterns(write_atlas(tmp_path / "turned", maps[::-1]), draws=100)
    of_one_task = {(f.kind, f.tasks): f.p for f in first if len(f.tasks) == 1}
    assert of_one_task.items() <= {(f.kind, f.tasks): f.p for f in turned}.items()


def test_the_first_of_every_supported_kind_comes_before_the_second_of_any(tmp_path):
    maps = [strong((12, 8), seed=seed, task=f"T{seed}") for seed in range(3)]
    kinds = [f.kind for f in find_patterns(write_atlas(tmp_path / "atlas", maps), draws=200) if f.supported]
    distinct = len(set(kinds))
    assert 1 < distinct < len(kinds)
    assert len(set(kinds[:distinct])) == distinct


def test_unmeasured_heads_are_no_zeros(tmp_path):
    known = strong((10, 8))
    known.value[::2] = np.nan
    by_kind = {f.kind: f for f in find_patterns(write_atlas(tmp_path / "atlas", [known]), draws=100)}
    assert "of 40 heads" in by_kind["above null"].statement
    assert by_kind["depth"].p > 0.05


@pytest.mark.parametrize(
    ("shape", "kinds", "reason"),
    [
        ((1, 12), "depth, spread, layers, hot spot", "the map has one layer"),
        ((12, 1), "neighbours, kv groups", "every layer has one head"),
        (
            (1, 1),
            "sparsity, outliers, depth, spread, layers, hot spot, neighbours, kv groups",
            "fewer than 8 heads were measured",
        ),
    ],
)
def test_small_maps_are_left_out_with_the_reason(tmp_path, shape, kinds, reason):
    known = Known(np.full(shape, 5.0) + np.arange(np.prod(shape)).reshape(shape), np.ones(shape), np.full(shape, 1e-6))
    findings = find_patterns(write_atlas(tmp_path / "atlas", [known]), draws=100)
    (finding,) = [f for f in findings if f.kind == kinds]
    assert finding.statement == f"Not tested for Task: {kinds}. Reason: {reason}."
    assert finding.p is finding.value is finding.effect is None and not finding.supported


def test_zero_maps_and_constant_maps_are_left_out(tmp_path):
    zero = Known(np.zeros((6, 4)), np.zeros((6, 4)), np.ones((6, 4)), task="Zero")
    same = Known(np.ones((6, 4)), task="Same")
    findings = find_patterns(write_atlas(tmp_path / "atlas", [zero, same]), draws=100)
    assert not any(finding.supported for finding in findings)
    assert any("Zero" in f.statement and "all values are zero" in f.statement for f in findings)
    assert any("Same" in f.statement and "all heads have the same value" in f.statement for f in findings)


def test_tasks_are_compared_only_on_enough_common_heads(tmp_path):
    first, second = strong((6, 4), task="A"), strong((6, 4), seed=1, task="B")
    first.value[:3], second.value[4:] = np.nan, np.nan
    findings = find_patterns(write_atlas(tmp_path / "atlas", [first, second]), draws=100)
    (finding,) = [f for f in findings if f.kind.startswith("shared heads")]
    assert finding.tasks == ("A", "B")
    assert finding.statement.endswith("Reason: fewer than 8 heads were measured for all tasks.")


def test_wrong_questions(tmp_path):
    atlas = write_atlas(tmp_path / "atlas", [strong((6, 4))])
    with pytest.raises(HeadAtlasError, match="method in this atlas 'probe'"):
        find_patterns(atlas, "probe")
    with pytest.raises(HeadAtlasError, match="measure of attribute 'interference'"):
        find_patterns(atlas, measure="interference")
    with pytest.raises(HeadAtlasError, match="`draws` is 5, and fewer than 20 cannot reach a p-value of 0.05"):
        find_patterns(atlas, draws=5)
