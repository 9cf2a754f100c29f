"""Comparing atlases: what is chosen, what is found, what is refused, and what is said about it."""

import numpy as np
import pytest
from scipy import stats

import headatlas as ha
from headatlas.atlas.run_record import Quantity
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.patterns.compare import compare, compare_if_possible
from tests.atlases import Known, write_atlas
from tests.patterns.compare.pairs import SHAPE, examples, known


def effect(seed=0):
    return 3 * np.random.default_rng(seed).standard_normal(SHAPE)


def atlas(folder, effects, tasks=("A", "B"), **more):
    return write_atlas(folder, [known(effects, task=task, examples=f"{folder.name}{task}") for task in tasks], **more)


def test_the_same_effects_on_other_examples(tmp_path):
    rng = np.random.default_rng(1)
    first, second = (atlas(tmp_path / name, examples(effect(), rng)) for name in ("one", "two"))
    outcome = ha.compare(first, second.path)
    assert outcome.by == "heads" and outcome.labels == ("one", "two")
    (row, other) = outcome.table().to_dict("records")
    a, b = first.grid("A").ravel(), second.grid("A").ravel()
    assert row["task"] == "A" and row["correlation"] == pytest.approx(stats.spearmanr(a, b).statistic)
    assert row["low"] < row["correlation"] < row["high"] and row["units"] == 96
    tops = [set(np.argsort(-values)[:10].tolist()) for values in (a, b)]
    assert row["shared"] == len(tops[0] & tops[1]) and row["by_chance"] == pytest.approx(100 / 96)
    assert row["p_value"] == pytest.approx(stats.hypergeom.sf(row["shared"] - 1, 96, 10, 10))
    assert row["differing"] == other["differing"] == 0
    assert not any("same examples" in remark for remark in outcome.remarks)


def test_heads_that_were_changed_differ(tmp_path):
    rng = np.random.default_rng(1)
    changed = effect()
    changed[3, 4] += 30
    changed[5, 1] -= 20
    first, second = atlas(tmp_path / "a", examples(effect(), rng)), atlas(tmp_path / "b", examples(changed, rng))
    task = compare(first, second).tasks[0]
    assert list(zip(task.differing["layer"], task.differing["head"], strict=True)) == [(3, 4), (5, 1)]
    row = task.differing.iloc[0]
    assert row["difference"] == pytest.approx(row["first"] - row["second"]) and row["low"] < -30 < row["high"]


def test_q_is_corrected_over_heads_and_tasks(tmp_path):
    rng = np.random.default_rng(1)
    first, second = (atlas(tmp_path / name, examples(effect(), rng)) for name in "ab")
    both = compare(first, second).heads()
    alone = compare(first, second, tasks=["a"]).heads()
    p = both["p_value"].to_numpy()
    np.testing.assert_allclose(both["q_value"], stats.false_discovery_control(p))
    np.testing.assert_allclose(alone["q_value"], stats.false_discovery_control(p[:96]))


def test_two_methods_of_one_atlas_on_the_same_examples(tmp_path):
    rng = np.random.default_rng(1)
    effects = examples(effect(), rng)
    maps = [known(effects, examples="x"), known(effects + 0.01 * rng.normal(size=effects.shape), examples="x",
                                                method="attribute")]  # fmt: skip
    outcome = compare(write_atlas(tmp_path / "a", maps), method="ablate", method_b="attribute")
    assert outcome.labels == ("ablate", "attribute") and outcome.tasks[0].same_examples
    assert outcome.tasks[0].correlation.low > 0.95
    assert any("share their noise" in remark for remark in outcome.remarks)


def test_seeds_of_one_method(tmp_path):
    rng = np.random.default_rng(0)
    maps = [Known(rng.random(SHAPE), method="gate", seed=seed) for seed in (0, 3)]
    outcome = compare(write_atlas(tmp_path / "a", maps), method="gate", seed=0, seed_b=3)
    assert outcome.labels == ("seed 0", "seed 3")
    assert outcome.table()["differing"].isna().all()
    assert any("has no standard errors" in remark for remark in outcome.remarks)
    assert any(remark.startswith("No interval of the correlation") for remark in outcome.remarks)


def test_other_units_are_not_subtracted(tmp_path):
    rng = np.random.default_rng(0)
    effects = examples(effect(), rng)
    quantities = {name: {"A": Quantity(metric="margin", baseline=name)} for name in ("twin", "mean")}
    first, second = (atlas(tmp_path / n, effects, ("A",), quantities={"ablate": q}) for n, q in quantities.items())
    outcome = compare(first, second)
    assert not outcome.tasks[0].tested and np.isfinite(outcome.tasks[0].correlation.low)
    assert "No differences of heads: the two are not in the same unit, metric and baseline." in outcome.remarks


def test_without_the_noise_of_all_heads_there_is_no_interval(tmp_path):
    rng = np.random.default_rng(0)
    first, second = (atlas(tmp_path / name, examples(effect(), rng)) for name in "ab")
    (second.path / "noise.parquet").unlink()
    outcome = compare(first, second)
    assert np.isnan(outcome.tasks[0].correlation.low) and outcome.tasks[0].tested
    (why,) = (remark for remark in outcome.remarks if remark.startswith("No interval"))
    assert str(second.path) in why and str(first.path) not in why and "map again" in why
    assert any("cautious" in remark for remark in outcome.remarks)


def test_heads_of_other_weights_are_compared_with_a_warning(tmp_path):
    rng = np.random.default_rng(0)
    first, second = (atlas(tmp_path / n, examples(effect(), rng), name=n, fingerprint=n * 16) for n in "ab")
    assert any(remark.startswith("The weights differ.") for remark in compare(first, second).remarks)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({}, "Both sides are the same maps: needed by ablate"),
        ({"method_b": "probe"}, "Unknown method in this atlas 'probe'"),
        ({"measure_b": "enough"}, "Unknown measure of ablate 'enough'"),
        ({"seed_b": 4}, "Seed 4 was asked for"),
        ({"k": 0}, "`k` 0 was asked for"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, asked, says):
    one = atlas(tmp_path / "a", examples(effect(), np.random.default_rng(0)))
    with pytest.raises(UsageError, match=says):
        compare(one, **asked)


def test_an_unknown_way_to_compare_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    first, second = (atlas(tmp_path / name, examples(effect(), rng)) for name in "ab")
    with pytest.raises(UsageError, match="`by` 'layer' was asked for; it is 'heads' or 'depth'"):
        compare(first, second, by="layer")


def test_nothing_in_common(tmp_path):
    rng = np.random.default_rng(0)
    first, second = (atlas(tmp_path / t, examples(effect(), rng), (t,)) for t in ("A", "B"))
    with pytest.raises(HeadAtlasError, match="The two have no task in common: ablate in .* has A, ablate in .* has B"):
        compare(first, second)
    assert compare_if_possible(first, second) is None
    with pytest.raises(HeadAtlasError, match="ablate has no map of A in .*B; it has B"):
        compare(first, second, tasks=["A"])
    with pytest.raises(HeadAtlasError, match="is not an atlas"):
        compare(first, tmp_path)
