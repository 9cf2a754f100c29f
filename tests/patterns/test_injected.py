"""Every kind of pattern, put into maps of noise by hand, is found, with its direction and its place."""

import numpy as np
import pytest

from headatlas.patterns import find_patterns
from tests.atlases import Known, measured, write_atlas

LAYERS, HEADS = 20, 12
SHAPE = (LAYERS, HEADS)
LAYER = np.arange(LAYERS)[:, None] + np.zeros(SHAPE)
HEAD = np.arange(HEADS)[None, :] + np.zeros(SHAPE)


def found(tmp_path, maps, kind, kv_heads=None, **options):
    """The supported findings of a kind."""
    findings = find_patterns(write_atlas(tmp_path / "atlas", maps, kv_heads=kv_heads), draws=400, **options)
    statements = [finding.statement for finding in findings]
    assert len(set(statements)) == len(statements)  # nothing is said twice
    assert len({(f.kind, f.tasks, f.method, f.p is None) for f in findings}) == len(findings)
    for finding in findings:
        if finding.p is not None:
            assert 0 < finding.p <= 1 and finding.p <= finding.p_adjusted <= 1
            assert finding.supported == (finding.p_adjusted < 0.05)
            assert finding.null
    assert [f.supported for f in findings] == sorted((f.supported for f in findings), reverse=True)
    return [finding for finding in findings if finding.kind == kind and finding.supported]


def effects(rng, where, size=6.0):
    """Normal effects where asked, nothing elsewhere."""
    return np.where(where, size * rng.normal(size=SHAPE), 0)


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def test_heads_above_the_null(tmp_path, rng):
    effect = np.zeros(SHAPE)
    effect[3, 4], effect[9, 1] = 20, -30
    (one,) = found(tmp_path, [measured(effect, 1.0, rng)], "above null")
    assert one.heads[:2] == ((9, 1), (3, 4))
    assert one.value == len(one.heads)
    assert one.effect == one.value / (LAYERS * HEADS)
    assert one.statement.startswith(
        f"Task: {one.value:.0f} of 240 heads differ from zero (q < 0.05); largest effects: L9H1, L3H4"
    )


@pytest.mark.parametrize(("where", "word"), [(LAYER >= 12, "late"), (LAYER < 8, "early")])
def test_depth_and_its_band(tmp_path, rng, where, word):
    maps = [measured(effects(rng, where), 1.0, rng)]
    (one,) = found(tmp_path, maps, "depth")
    assert f"Task lies {word}: its centre of mass is layer {one.value:.1f} of 0 to 19" in one.statement
    assert (one.effect > 0) == (word == "late")
    (band,) = found(tmp_path, maps, "layers")
    assert band.value > 0.6 and band.effect > 0.2
    assert ("layers 12 to 19" if word == "late" else "layers 0 to 7") in band.statement


@pytest.mark.parametrize(
    ("where", "word"), [(np.abs(LAYER - 9.5) < 3, "concentrated"), (np.abs(LAYER - 9.5) > 7, "apart")]
)
def test_spread(tmp_path, rng, where, word):
    (one,) = found(tmp_path, [measured(effects(rng, where), 1.0, rng)], "spread")
    assert word in one.statement
    assert (one.effect < 0) == (word == "concentrated")


def test_sparsity(tmp_path, rng):
    effect = effects(rng, rng.random(SHAPE) < 0.05, size=30)
    (one,) = found(tmp_path, [measured(effect, 1.0, rng)], "sparsity")
    assert one.value > 0.6 and one.effect > 0.15
    assert "of 240 heads hold half of the mass" in one.statement


def test_a_dense_map_is_not_called_sparse(tmp_path, rng):
    assert found(tmp_path, [measured(6 * rng.normal(size=SHAPE), 1.0, rng)], "sparsity") == []


def test_outliers(tmp_path, rng):
    effect = 3 * rng.normal(size=SHAPE)
    effect[6, 11] = 60
    (one,) = found(tmp_path, [measured(effect, 1.0, rng)], "outliers")
    assert one.heads == ((6, 11),)
    assert "L6H11 stands out from the trend of the layers" in one.statement


def test_hot_spot(tmp_path, rng):
    spot = (LAYER >= 8) & (LAYER < 11) & (HEAD >= 5) & (HEAD < 8)
    effect = np.where(spot, 12 * np.sign(rng.normal(size=SHAPE)), 2 * rng.normal(size=SHAPE))
    (one,) = found(tmp_path, [measured(effect, 1.0, rng)], "hot spot")
    assert len(set(one.heads) & set(map(tuple, np.argwhere(spot).tolist()))) >= 6
    assert one.value > 2


def test_neighbours(tmp_path, rng):
    pairs = np.repeat(rng.random((LAYERS, HEADS // 2)) < 0.4, 2, axis=1)
    (one,) = found(tmp_path, [measured(np.where(pairs, 8.0, 1.0), 1.0, rng)], "neighbours")
    assert one.effect > 0 and "Neighbouring heads are alike" in one.statement


def test_kv_groups(tmp_path, rng):
    groups = np.repeat(rng.random((LAYERS, 4)) < 0.4, 3, axis=1)
    maps = [measured(np.where(groups, 8.0, 1.0), 1.0, rng)]
    (one,) = found(tmp_path, maps, "kv groups", kv_heads=4)
    assert one.effect > 0 and "Heads that share keys and values are alike" in one.statement
    assert found(tmp_path, maps, "neighbours", kv_heads=4) == []  # pairs of one group are no neighbours


def test_shared_heads(tmp_path, rng):
    base = rng.random(SHAPE) < 0.15
    maps = [measured(effects(rng, base, 15), 1.0, rng, task=name) for name in "ABCD"]
    (one,) = found(tmp_path, maps, "shared heads")
    assert one.tasks == tuple("ABCD") and one.effect > 5
    assert one.heads and all(base[place] for place in one.heads)


def test_specific_heads(tmp_path, rng):
    base = 4 * rng.normal(size=SHAPE)
    maps = [
        measured(base + np.where((LAYER == 5) & (i == HEAD), 40, 0), 1.0, rng, task=name)
        for i, name in enumerate("ABC")
    ]
    own = {finding.tasks[0]: finding for finding in found(tmp_path, maps, "specific heads")}
    assert {task: finding.heads for task, finding in own.items()} == {"A": ((5, 0),), "B": ((5, 1),), "C": ((5, 2),)}


def test_density(tmp_path, rng):
    shares = {"A": 0.05, "B": 0.05, "Full": 0.6}
    maps = [
        measured(effects(rng, rng.random(SHAPE) < share, 10), 1.0, rng, task=task) for task, share in shares.items()
    ]
    by_task = {finding.tasks[0]: finding for finding in found(tmp_path, maps, "density")}
    assert by_task["Full"].effect > 0.1
    assert by_task["Full"].statement.startswith("Full is denser than the 2 other tasks")


def test_a_task_that_lies_later_than_the_rest(tmp_path, rng):
    where = {"Recall": LAYER < 12, "Syntax": LAYER < 12, "Math": LAYER >= 12}
    maps = [measured(effects(rng, own, 8), 1.0, rng, task=task) for task, own in where.items()]
    by_task = {finding.tasks[0]: finding for finding in found(tmp_path, maps, "depth difference")}
    assert by_task["Math"].value > 5
    assert by_task["Math"].statement.startswith("Math lies later than the 2 other tasks")


def test_two_tasks_are_compared_once(tmp_path, rng):
    maps = [measured(effects(rng, own, 8), 1.0, rng, task=task) for task, own in (("A", LAYER < 8), ("B", LAYER >= 12))]
    (one,) = found(tmp_path, maps, "depth difference")
    assert one.statement.startswith("A lies earlier than B")


def test_precision_alone_makes_no_difference_between_tasks(tmp_path, rng):
    """The same effects, measured well and badly: the noise of the second map is not its shape."""
    effect = effects(rng, LAYER >= 10, 10)
    maps = [measured(effect, noise, rng, 48, task=task) for task, noise in (("Sharp", 0.3), ("Blurred", 3.0))]
    assert found(tmp_path, maps, "depth difference") == []


@pytest.mark.parametrize("sign", [1, -1])
def test_agreement(tmp_path, rng, sign):
    effect = 3 * rng.normal(size=SHAPE)
    maps = [measured(effect, 1.0, rng), measured(sign * effect, 1.0, rng, method="ablate")]
    (one,) = found(tmp_path, maps, "agreement")
    assert np.sign(one.value) == sign and one.method == "attribute, ablate"
    assert ("alike" if sign > 0 else "in opposite order") in one.statement


def test_stability_over_seeds(tmp_path, rng):
    effect = 3 * rng.normal(size=SHAPE)
    (one,) = found(tmp_path, [measured(effect, 1.0, rng, seed=seed) for seed in range(3)], "stability")
    assert one.value > 0.6


def test_maps_without_errors_have_shapes_too(tmp_path, rng):
    maps = [Known(np.abs(effects(rng, LAYER >= 12)) + rng.random(SHAPE), measure="facilitation", method="gate")]
    (one,) = found(tmp_path, maps, "depth")
    assert one.measure == "facilitation" and one.effect > 0
